import { client } from "./client.js";
import { wordsOf } from "./format.js";
import { Empty, Heading, Section, Shown, Table } from "./parts.js";
import { Said, State, When } from "./shown.js";
import { LIVE_MS, useLoaded } from "./use-loaded.js";

/** How the parts of the server do, and how they did. */
export function HealthScreen() {
  const health = useLoaded("", (abort) => client.health(abort), LIVE_MS);
  return (
    <>
      <Heading title="Health">Health</Heading>
      <Shown of={health}>
        {({ now, history }) => (
          <>
            <p class="row">
              As a whole: <State of={now?.status ?? null} />
            </p>
            <Parts of={now?.parts ?? null} />
            <Section title="What changed" note="Newest first, since this server was started.">
              <History of={history} />
            </Section>
          </>
        )}
      </Shown>
    </>
  );
}

function Parts({ of }: { readonly of: Readonly<Record<string, { status: string | null; detail: string | null }>> | null }) {
  if (of === null) return <Empty>How the parts do is unknown.</Empty>;
  return (
    <Table label="Parts of the server" columns={["Part", "State", "Detail"]}>
      {Object.entries(of).map(([name, { status, detail }]) => (
        <tr key={name}>
          <th scope="row">
            <bdi>{wordsOf(name)}</bdi>
          </th>
          <td>
            <State of={status} />
          </td>
          <td>{detail !== null && <Said text={detail} />}</td>
        </tr>
      ))}
    </Table>
  );
}

type Change = { at: string | null; status: string | null; parts: Record<string, unknown> | null };

function History({ of }: { readonly of: readonly Change[] | null }) {
  if (of === null) return <Empty>What was before is unknown.</Empty>;
  if (of.length === 0) return <Empty>Nothing has changed.</Empty>;
  return (
    <ol class="timeline">
      {of.map(({ at, status, parts }, index) => (
        <li key={index}>
          <p class="row">
            <When at={at} /> <State of={status} />
          </p>
          <p class="note row">
            {Object.entries(parts ?? {}).map(([name, part]) => (
              <span key={name} class="row">
                <bdi>{wordsOf(name)}</bdi> <State of={statusOf(part)} />
              </span>
            ))}
          </p>
        </li>
      ))}
    </ol>
  );
}

/** As readiness has it, or the bare word. */
function statusOf(part: unknown): string | null {
  if (typeof part === "string") return part;
  const status = typeof part === "object" && part !== null && "status" in part ? part.status : null;
  return typeof status === "string" ? status : null;
}
