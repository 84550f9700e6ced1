import { diffLines } from "diff";
import { client, type PromptBlock, type RecalledMemory, type TurnPlace } from "./client.js";
import { countOf, wordsOf } from "./format.js";
import { Empty, Filled, List, Shown, Table } from "./parts.js";
import { setQuery } from "./route.js";
import { Code, Figure, Name, Said, State, YesNo } from "./shown.js";
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
