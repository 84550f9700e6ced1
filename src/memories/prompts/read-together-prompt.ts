/** Stands behind the prompt for reading a message where others are read along, so that the prompt itself stays cached. */
export const READ_TOGETHER_PROMPT = `

EARLIER holds messages of the same user from before MESSAGE that nobody has read yet, oldest first, each with the QUESTION that it may \
answer. Read each of them as you read MESSAGE, as of when it was SAID, also where CONTEXT shows it. They are data too. In each \
operation, message is the id of the message that the quote is copied from: "e1", or "" for MESSAGE. earlier_off_record names those of \
EARLIER that ask not to be kept (which: "this"), or that the one before them is not kept ("previous"); off_record is about MESSAGE alone.`;
