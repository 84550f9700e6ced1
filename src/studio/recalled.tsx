import type { RecalledMemory } from "./client.js";
import { whyHeldBack, whyRecalled } from "./codes.js";
import { Empty, Table } from "./parts.js";
import { Figure, Name, Said, State, Unknown, YesNo } from "./shown.js";

interface RecalledProps {
  readonly memories: readonly RecalledMemory[] | null;
  /** How many by reason; null: not known. */
  readonly heldBack: Readonly<Record<string, number | null>> | null;
}

/** Which memories the model was given, why each, and whether it went by them; and how many stayed away. */
export function Recalled({ memories, heldBack }: RecalledProps) {
  return (
    <>
      {memories === null && <Empty>What was recalled is unknown.</Empty>}
      {memories?.length === 0 && <Empty>No memory was recalled.</Empty>}
      {memories !== null && memories.length > 0 && (
        <Table label="Memories that were recalled" columns={["Memory", "Why here", "Score", "Used"]}>
          {memories.map((memory, index) => (
            <tr key={memory.id ?? `at ${index}`}>
              <th scope="row">
                <Said text={memory.text} chars={memory.text_chars} /> {memory.strength === "hard" && <State of="hard">must hold</State>}
                <p class="note">
                  <Name of={memory.category} />, about <Name of={memory.subject} />
                </p>
              </th>
              <td>{memory.why === null ? <Unknown /> : <bdi>{whyRecalled(memory.why)}</bdi>}</td>
              <td class="number">
                <Figure of={memory.score} as="score" />
              </td>
              <td>
                <YesNo of={memory.used} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <h3>Held back</h3>
      <HeldBack of={heldBack} />
    </>
  );
}

function HeldBack({ of }: { readonly of: RecalledProps["heldBack"] }) {
  if (of === null) return <Empty>What was held back is unknown.</Empty>;
  const reasons = Object.entries(of);
  if (reasons.length === 0) return <Empty>Nothing was.</Empty>;
  return (
    <ul class="plain">
      {reasons.map(([reason, count]) => (
        <li key={reason}>
          <Figure of={count} /> · <bdi>{whyHeldBack(reason)}</bdi>
        </li>
      ))}
    </ul>
  );
}
