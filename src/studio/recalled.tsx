import type { RecalledMemory } from "./client.js";
import { wordsOf } from "./format.js";
import { Filled, List, Table } from "./parts.js";
import { Code, Figure, Name, Said, State, YesNo } from "./shown.js";

/** What codes of the server mean; one that isn't here is read as it is. */
const WHY_RECALLED: Readonly<Record<string, string>> = {
  own_need: "a need of the guest's",
  companion_need: "a need of a companion's",
  occasion: "fits the occasion",
  party: "fits who comes",
  likeness: "like what was said",
  standing: "holds always",
};
const WHY_HELD_BACK: Readonly<Record<string, string>> = {
  idle: "the message asks for nothing",
  occasion: "for another occasion",
  not_coming: "about somebody who doesn't come",
  outdated: "another value holds",
  limit: "others come before it",
};

const inWords = (words: Readonly<Record<string, string>>) => (code: string) =>
  Object.hasOwn(words, code) ? (words[code] ?? code) : wordsOf(code);

const whyRecalled = inWords(WHY_RECALLED);
const whyHeldBack = inWords(WHY_HELD_BACK);

interface RecalledProps {
  readonly memories: readonly RecalledMemory[] | null;
  /** How many by reason; null: not known. */
  readonly heldBack: Readonly<Record<string, number | null>> | null;
}

/** Which memories the model was given, why each, and whether it went by them; and how many stayed away. */
export const Recalled = ({ memories, heldBack }: RecalledProps) => (
  <>
    <Filled of={memories} unknown="What was recalled is unknown." none="No memory was recalled.">
      {(all) => (
        <Table
          label="Memories that were recalled"
          of={all}
          columns={[
            ["Memory", (memory) => <What of={memory} />],
            ["Why here", ({ why }) => <Code of={why} as={whyRecalled} />],
            ["Score", ({ score }) => <Figure of={score} as="score" />],
            ["Used", ({ used }) => <YesNo of={used} />],
          ]}
        />
      )}
    </Filled>
    <h3>Held back</h3>
    <List of={heldBack && Object.entries(heldBack)} unknown="What was held back is unknown." none="Nothing was." as="ul" class="plain">
      {([reason, count]) => (
        <>
          <Figure of={count} /> · <Code of={reason} as={whyHeldBack} />
        </>
      )}
    </List>
  </>
);

const What = ({ of: { text, text_chars, strength, category, subject } }: { readonly of: RecalledMemory }) => (
  <>
    <Said text={text} chars={text_chars} /> {strength === "hard" && <State of="hard">must hold</State>}
    <p class="note">
      <Name of={category} />, about <Name of={subject} />
    </p>
  </>
);
