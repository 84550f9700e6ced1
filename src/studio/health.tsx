import { client } from "./client.js";
import { Filled, Heading, List, Section, Shown, Table } from "./parts.js";
import { Code, Said, State, When } from "./shown.js";
import { LIVE_MS, useLoaded } from "./use-loaded.js";

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
            <Filled of={now?.parts ? Object.entries(now.parts) : null} unknown="How the parts do is unknown." none="It has no parts.">
              {(parts) => (
                <Table
                  label="Parts of the server"
                  of={parts}
                  columns={[
                    ["Part", ([name]) => <Code of={name} />],
                    ["State", ([, { status }]) => <State of={status} />],
                    ["Detail", ([, { detail }]) => detail !== null && <Said text={detail} />],
                  ]}
                />
              )}
            </Filled>
            <Section title="What changed" note="Newest first, since this server was started.">
              <List of={history} unknown="What was before is unknown." none="Nothing has changed." class="timeline">
                {({ at, status, parts }) => (
                  <>
                    <p class="row">
                      <When at={at} /> <State of={status} />
                    </p>
                    <p class="note row">
                      {Object.entries(parts ?? {}).map(([name, part]) => (
                        <span key={name} class="row">
                          <Code of={name} /> <State of={statusOf(part)} />
                        </span>
                      ))}
                    </p>
                  </>
                )}
              </List>
            </Section>
          </>
        )}
      </Shown>
    </>
  );
}

/** As readiness has it, or the bare word. */
function statusOf(part: unknown): string | null {
  if (typeof part === "string") return part;
  const status = typeof part === "object" && part !== null && "status" in part ? part.status : null;
  return typeof status === "string" ? status : null;
}
