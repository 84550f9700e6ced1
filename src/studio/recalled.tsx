import type { RecalledMemory } from "./client.js";
import { whyHeldBack, whyRecalled } from "./codes.js";
import { Filled, List, Table } from "./parts.js";
import { Code, Figure, Name, Said, State, YesNo } from "./shown.js";

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
