import { diffLines } from "diff";
import { client, type PromptBlock, type TurnPlace } from "./client.js";
import { countOf } from "./format.js";
import { Empty, Filled, List, Shown } from "./parts.js";
import { setQuery } from "./route.js";
import { Figure, Name, Said, State } from "./shown.js";
import { useLoaded } from "./use-loaded.js";

export interface Comparison {
  readonly wanted: boolean;
  /** Null for the first turn. */
  readonly before: string | null;
  readonly place: TurnPlace;
}

interface PromptProps {
  readonly blocks: readonly PromptBlock[] | null;
  readonly comparison: Comparison;
}

/** The prompt by its blocks, in their order: how large each is, what of it was cached, and what is another than in the turn before. */
export function Prompt({ blocks, comparison }: PromptProps) {
  const { wanted, before } = comparison;
  return (
    <Filled of={blocks} unknown="What the model was given is unknown." none="The prompt had no blocks.">
      {(all) => (
        <>
          {before !== null && (
            <label class="check">
              <input type="checkbox" checked={wanted} onChange={() => setQuery(wanted ? {} : { compare: "yes" }, true)} />
              Show what is another than in turn {before}
            </label>
          )}
          {wanted && before !== null ? <Compared blocks={all} place={comparison.place} before={before} /> : <Blocks of={all} />}
        </>
      )}
    </Filled>
  );
}

type ComparedProps = Readonly<{ blocks: readonly PromptBlock[]; place: TurnPlace; before: string }>;

function Compared({ blocks, place: { tenant, user, session }, before }: ComparedProps) {
  const earlier = useLoaded(`${tenant}/${user}/${session}/${before}`, (abort) => client.turn({ tenant, user }, session, before, abort));
  return (
    <Shown of={earlier}>
      {({ prompt_blocks: then }) => (
        <>
          {then === null && <Empty>What the model was given in turn {before} is unknown.</Empty>}
          <Blocks of={blocks} before={then ?? undefined} />
          {then !== null && <Gone now={blocks} before={then} />}
        </>
      )}
    </Shown>
  );
}

/** Blocks that only the turn before had. */
function Gone({ now, before }: { readonly now: readonly PromptBlock[]; readonly before: readonly PromptBlock[] }) {
  const gone = before.filter(({ name }) => !now.some((block) => block.name === name));
  if (gone.length === 0) return null;
  return (
    <p class="note">
      No longer there:{" "}
      {gone.map(({ name }, index) => (
        <span key={name ?? index}>
          {index > 0 && ", "}
          <Name of={name} />
        </span>
      ))}
    </p>
  );
}

function Blocks({ of, before }: { readonly of: readonly PromptBlock[]; readonly before?: readonly PromptBlock[] | undefined }) {
  return (
    <List of={of} class="blocks">
      {(block) => (
        <details open={before !== undefined && block.same_as_before !== true}>
          <summary>
            <Name of={block.name} /> <Figure of={block.tokens} unit="tokens" /> <CachedState of={block} />{" "}
            {block.same_as_before === true && <State of="same">as in the turn before</State>}
            {block.same_as_before === false && <State of="changed">another than before</State>}
          </summary>
          <pre>
            <BlockText of={block} before={before?.find(({ name }) => name === block.name)} />
          </pre>
        </details>
      )}
    </List>
  );
}

function CachedState({ of: { cached, tokens } }: { readonly of: PromptBlock }) {
  if (cached === null) return <span class="unknown">cached: unknown</span>;
  if (cached === false || cached === 0) return <span class="note">not cached</span>;
  return <State of="cached">{cached === true || cached === tokens ? "cached" : `${countOf(cached)} cached`}</State>;
}

function BlockText({ of, before }: { readonly of: PromptBlock; readonly before: PromptBlock | undefined }) {
  if (of.text === null || before === undefined || before.text === null) return <Said text={of.text} chars={of.text_chars} />;
  return (
    <span class="said" dir="auto">
      {diffLines(`${before.text}\n`, `${of.text}\n`).map(({ added, removed, value }, index) => {
        const Tag = added ? "ins" : removed ? "del" : "span";
        return (
          <Tag key={index}>
            {Tag !== "span" && <span class="sr">{added ? "added: " : "taken away: "}</span>}
            {value}
          </Tag>
        );
      })}
    </span>
  );
}
