import { type Category, category, categoryOf, DEFAULT_CATEGORIES } from "../domain/categories.js";
import type { RecallTable } from "../domain/recall-table.js";
import { isLimit } from "../gate/stated.js";
import { needTalkOf, needWordsOf, OFF_RECORD } from "../languages/need-talk.js";
import { recallTableOf } from "../languages/recall-talk.js";
import { AppError, type ErrorDetail } from "../platform/errors.js";
import { nearestName } from "../platform/nearest-name.js";
import type { AnyTool, Domain, Need } from "../ports/agent.js";
import type { Shown, Stated } from "../ports/binding.js";
import type { OfCatalogue } from "./define-tool.js";
import { wrongShape } from "./domain-shape.js";

/** One thing that may have to hold, as a domain's author writes it. `Item`: of the domain's catalogue. `Language`: that it claims. */
export interface NeedDefinition<Item, Language extends string = string> extends Pick<Need, "description" | "kind" | "holds" | "spellings"> {
  /** In snake case. One that begins with `no_` is a thing that must not be: `no_latex`. */
  readonly name: string;
  /** By which guests name it, in every language of the domain: words and short phrases, plurals too where they are other words. */
  readonly words: Readonly<Record<Language, readonly string[]>>;
  /** Whether something of the catalogue meets it; of a limit its number; `"unknown"` where it doesn't say: the guest is told. Pure. */
  states(item: Item): Stated;
  /** Why something of the catalogue does not meet it, in a sentence for the guest. Pure. Default: that it doesn't, by the need's name. */
  because?(item: Item): string;
  /**
   * The category of its memories. Default: the one that is hard, where there is one. A limit may be of a soft one, as `budget`: what is
   * stated there without insisting ("my budget is about 50") is held against what is bound too, and asked about once where it is over: all
   * of it in a category for one value that no other need is of, elsewhere what has one of the limit's words.
   */
  readonly category?: string;
  /** Of needs of one slot a person has one. Default: it excludes no other; a limit is in a slot of its own. */
  readonly slot?: string;
}

/** What is remembered of users, as a domain's author writes it. `Language`: that the domain claims. */
export interface CategoryDefinition<Language extends string = string> extends Category {
  /**
   * Words and short phrases of messages that its statements matter to, in every language of the domain: "route", "tour". Where a domain has
   * any, what is given of the rest is what those messages don't exclude. Default: what is like the message.
   */
  readonly situations?: Readonly<Record<Language, readonly string[]>>;
}

/** A product, described once. */
export interface DomainDefinition<Item, Language extends string = string>
  extends Pick<Domain, "arrange" | "records" | "close" | "offline"> {
  /** 1 to 64 small letters, digits, `_` and `-`. Becomes `agent_type` of its sessions. */
  readonly name: string;
  /** The system prompt: what the assistant is. Stable, without dates or user data. */
  readonly prompt: string;
  /** ISO 639-1. Every need has words in each. Default: `en`. */
  readonly languages?: readonly Language[];
  /** What is remembered of users; one of them is `other`. Default: needs, and a general table of what need not hold. */
  readonly categories?: readonly CategoryDefinition<NoInfer<Language>>[];
  /**
   * Instead of the categories' `situations`: the occasions that these name, with anchor sentences and more; what else of the table is left
   * out is how guests speak, whatever the domain.
   */
  readonly recall?: Pick<RecallTable, "occasions"> & Partial<RecallTable>;
  readonly needs?: readonly NeedDefinition<Item, NoInfer<Language>>[];
  /** Each says what it `binds`, or that it `looksUp`. Made with `defineTool`. */
  readonly tools: readonly OfCatalogue<Item>[];
}

/**
 * A product on Maitred from one description: the reader of messages, the checks of what it proposes, what is recalled and the gate in front
 * of binding tools follow from it.
 * @throws INVALID_CONFIG that names the domain and everything in it that can't be
 *
 * @example
 * const dentist = defineDomain({
 *   name: "dentist",
 *   prompt: "You look after the appointments of a dental practice.",
 *   needs: [{ name: "no_latex", description: "no latex", words: { en: ["latex"] }, states: (slot: Slot) => !slot.latex }],
 *   tools: [findSlots, bookSlot],
 * });
 */
export function defineDomain<Item = never, const Language extends string = "en">(definition: DomainDefinition<Item, Language>): Domain {
  refuse(nameOf(definition), wrongShape(definition));
  const {
    name,
    prompt,
    tools,
    languages = ["en"],
    needs = [],
    recall: given,
    categories: described = categoriesWithNeeds(),
    ...rest
  } = definition;
  const { categories, recall } = recallOf(described, given);
  const named = needs.map((need) => ({ ...need, category: need.category ?? onlyHard(categories) ?? "" }));
  const wrong = [
    ...(/^[a-z][a-z0-9_-]{0,63}$/.test(name) ? [] : [at("/name", "1 to 64 small letters, digits, `_` and `-`")]),
    ...(prompt.trim() === "" ? [at("/prompt", "it is empty")] : []),
    ...named.flatMap((need, index) => wrongIn(need, index, named, { languages, categories })),
    ...tools.flatMap((tool, index) => wrongTool(tool, index, tools)),
    ...described.flatMap((each, index) => wrongSituations(each, index, languages, given !== undefined)),
    ...wrongOccasions(categories, recall),
  ];
  refuse(name, wrong);
  const flat = named.map(({ words, spellings = [], ...need }): Need => {
    const slot = need.slot ?? (isLimit(need) ? need.name : undefined);
    const also = categoryAsName(need, named, categories);
    return {
      ...need,
      ...(slot !== undefined && { slot }),
      words: [...Object.values<readonly string[]>(words).flat(), ...also],
      spellings: [...spellings, ...also],
    } as Need;
  });
  const { needTalk, offRecord } = { needTalk: needTalkOf(needWordsOf(flat)), offRecord: OFF_RECORD };
  return { ...rest, ...(recall && { recall }), name, prompt, tools, categories, needs: flat, needTalk, offRecord };
}

interface Recalled {
  readonly categories: readonly Category[];
  readonly recall: RecallTable | undefined;
}

/** Each category that has situations is an occasion of its own, at which its statements matter. */
function recallOf(described: readonly CategoryDefinition[], given: DomainDefinition<never>["recall"]): Recalled {
  const occasions = Object.fromEntries(
    described.flatMap(({ name, situations: words }) => (words === undefined ? [] : [[name, { words }]])),
  );
  const categories = described.map(({ situations, ...each }) =>
    situations === undefined ? each : { ...each, occasions: { at: [each.name] } },
  );
  if (given !== undefined) return { categories, recall: { ...recallTableOf(given.occasions), ...given } };
  return { categories, recall: Object.keys(occasions).length === 0 ? undefined : recallTableOf(occasions) };
}

function wrongSituations({ situations }: CategoryDefinition, index: number, languages: readonly string[], isTwice: boolean): ErrorDetail[] {
  if (situations === undefined) return [];
  const pointer = `/categories/${index}/situations`;
  if (isTwice) return [at(pointer, "`recall` says it already: one of the two")];
  return languages
    .filter((language) => (situations[language] ?? []).length === 0)
    .map((language) => at(`${pointer}/${language}`, "there is no word in a language that the domain claims"));
}

/** The general table, with one category for all that must hold. */
function categoriesWithNeeds(): readonly Category[] {
  const needs = category(
    "needs",
    "what must hold for somebody: allergies, diets, access and the like",
    "constraint",
    "hard",
    [],
    "the need",
  );
  return [needs, ...DEFAULT_CATEGORIES.filter(({ strength }) => strength === "soft")];
}

/** @throws INVALID_CONFIG where anything is wrong */
function refuse(name: string, wrong: readonly ErrorDetail[]): void {
  if (wrong.length === 0) return;
  const told = wrong.map(({ pointer, detail: why }) => `${pointer}: ${why}`).join("; ");
  const detail = `The domain "${name.slice(0, 64)}": ${told}${told.endsWith("?") ? "" : "."}`;
  throw new AppError("INVALID_CONFIG", { detail, errors: [...wrong], hint: "Mend the domain where it is described." });
}

function nameOf(definition: unknown): string {
  const { name } = (definition ?? {}) as { readonly name?: unknown };
  return typeof name === "string" ? name : "";
}

function at(pointer: string, detail: string): ErrorDetail {
  return { pointer, detail };
}

function onlyHard(categories: readonly Category[]): string | undefined {
  const [only, another] = categories.filter(({ strength }) => strength === "hard");
  return another === undefined ? only?.name : undefined;
}

type Named = NeedDefinition<never> & { readonly category: string };

/** A category for one value at a time, with one limit in it, is about that: "my budget is about 50" of a `max_price` is such a limit. */
function categoryAsName(need: Pick<Named, "name" | "kind" | "category">, all: readonly Named[], categories: readonly Category[]): string[] {
  const { fixed = [], open = null } = categoryOf(categories, need.category) ?? {};
  const isAlone = all.every(({ name, category: other }) => name === need.name || (other !== need.category && name !== need.category));
  return isLimit(need) && isAlone && fixed.length === 1 && open === null ? [need.category.replaceAll("_", " ")] : [];
}

/** Names are compared as a model may write them: case, blanks and hyphens don't matter. */
function spelt(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

function wrongIn(
  need: Named,
  index: number,
  all: readonly Named[],
  { languages, categories }: { readonly languages: readonly string[]; readonly categories: readonly Category[] },
): ErrorDetail[] {
  const { name, words = {}, category: own } = need;
  const pointer = `/needs/${index}`;
  const said = [name, ...(need.spellings ?? [])].map(spelt);
  const twin = all.find(
    (other, place) => place < index && [other.name, ...(other.spellings ?? [])].some((each) => said.includes(spelt(each))),
  );
  const names = categories.map((each) => each.name);
  const hard = categories.filter(({ strength }) => strength === "hard").map((each) => each.name);
  const silent = languages.filter((language) => ((words as Readonly<Record<string, readonly string[]>>)[language] ?? []).length === 0);
  const none = (need.holds ?? []).filter((held) => held !== "other" && !all.some((other) => other.name === held));
  return [
    ...(/^[a-z][a-z0-9_]{0,63}$/.test(name) ? [] : [at(`${pointer}/name`, "snake case, 1 to 64 characters")]),
    ...(name === "other" ? [at(`${pointer}/name`, "`other` is what is none of the domain's needs")] : []),
    ...(twin === undefined ? [] : [at(`${pointer}/name`, `"${name}" and "${twin.name}" are one name`)]),
    ...silent.map((language) => at(`${pointer}/words/${language}`, `"${name}" has no word in a language that the domain claims`)),
    ...(typeof need.states === "function" ? [] : [at(`${pointer}/states`, `nothing says whether the catalogue meets "${name}"`)]),
    ...(own === ""
      ? [at(`${pointer}/category`, `say which one "${name}" belongs to: ${(hard.length > 0 ? hard : names).join(", ")}`)]
      : []),
    ...(own === "" || names.includes(own)
      ? []
      : [at(`${pointer}/category`, `there is no "${own}"; did you mean "${nearestName(own, names) ?? names[0]}"?`)]),
    ...none.map((held) => at(`${pointer}/holds`, `there is no need "${held}"`)),
  ];
}

function wrongTool({ name, binds, ends, looksUp }: AnyTool, index: number, all: readonly AnyTool[]): ErrorDetail[] {
  const pointer = `/tools/${index}`;
  if (all.slice(0, index).some((other) => other.name === name)) return [at(`${pointer}/name`, `another tool is called "${name}" too`)];
  const [acts, another] = [binds, ends, looksUp].filter((part) => part !== undefined);
  if (another !== undefined) return [at(pointer, `the tool "${name}" is of two kinds: one of \`binds\`, \`ends\` and \`looksUp\``)];
  if (acts === undefined)
    return [
      at(pointer, `say what the tool "${name}" \`binds\` or \`ends\`, or that it only \`looksUp\`: what binds must not pass the gate by`),
    ];
  const shown: Partial<Shown> | undefined = binds ?? ends;
  const missing = shown === undefined ? [] : (["what", "items", "show"] as const).filter((part) => !shown[part]);
  const kind = binds === undefined ? "ends" : "binds";
  return missing.map((part) => at(`${pointer}/${kind}/${part}`, `the tool "${name}" doesn't say this of what it ${kind}`));
}

/** An occasion that no category has calls for nothing, and one that no table has is never found. */
function wrongOccasions(categories: readonly Category[], recall: RecallTable | undefined): ErrorDetail[] {
  if (recall === undefined) return [];
  if (typeof recall.occasions !== "object") return [at("/recall/occasions", "it names none")];
  const known = Object.keys(recall.occasions);
  const used = categories.flatMap(({ name, occasions: { at: general = [], hard = [], named = [], alike = [] } = {} }) =>
    [...general, ...hard, ...named, ...alike].map((occasion) => ({ name, occasion })),
  );
  return [
    ...used
      .filter(({ occasion }) => !known.includes(occasion))
      .map(({ name, occasion }) => at("/categories", `"${name}" is for the occasion "${occasion}", which \`recall\` does not have`)),
    ...known
      .filter((occasion) => !used.some((each) => each.occasion === occasion))
      .map((occasion) => at(`/recall/occasions/${occasion}`, "no category has it: it calls for nothing")),
  ];
}
