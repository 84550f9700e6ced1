/** Stands behind the prompt for reading a message that was read before: words in it name needs of which nothing was noted. */
export function readNeedsPrompt(needs: readonly string[]): string {
  return `

MESSAGE was read before, and nothing was noted of these needs, though its words name them: ${needs.join(", ")}. Read it once more for them \
alone. Where the user, or somebody who comes along, has such a need or may have it, propose it, with its stance. nobodys: those of \
them that MESSAGE denies, asks about in general, says are over, or tells of somebody who does not come along. Name each of them in one or \
the other.`;
}
