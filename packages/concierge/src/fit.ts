import type { Gate, JsonObject, RecalledMemory } from "maitred";
import type { CatalogueEvent } from "./catalogue.js";
import { candidateOf } from "./need-check.js";
import { wordsOf } from "./need-words.js";
import { type NeedName, needMeant } from "./needs.js";
import { genresIn } from "./script/words.js";
import { isDisliked } from "./tastes.js";

/** How an event suits what is known of the guest: what it states of each need, by the gate's own look, and what they like. */

export interface FitMark extends JsonObject {
  readonly memory_id: string;
  readonly label: string;
  readonly met: boolean | null;
}

/** A need that an event could break. */
export interface HeldNeed {
  readonly memoryId: string;
  /** What the catalogue says of it, in a word or two: "without gluten", "not without gluten"; where it says nothing, of what: "gluten". */
  readonly label: string;
  /** Whether some section of the event meets it. Null: the catalogue doesn't say. */
  readonly met: boolean | null;
  /** False for a companion's who was given as one that may come along, and of whom nobody spoke. */
  readonly along: boolean;
}

/** What is eaten: a domain may have no name for what must not be in it. */
const FOOD = "dietary";

type Judge = Awaited<ReturnType<Gate["read"]>>;
type ToolContext = Parameters<Gate["read"]>[0];

/**
 * What an event states of the needs of the guest, and of companions who were spoken of or whose needs the turn was given. What it can't
 * break, as food where none is served, is left out, and so is a need that the catalogue has no name for, but for what is eaten.
 */
export function needsHeld(event: CatalogueEvent, judge: Judge, context: ToolContext): readonly HeldNeed[] {
  const { earlierMessages = [], userMessage, sessionId, recalled = [] } = context;
  const said = [...earlierMessages, userMessage.content];
  // Of so many people whoever was spoken of may be one.
  const party = { companions: [], absent: [], size: Number.MAX_SAFE_INTEGER, said, sessionId };
  const [first = [], ...others] = event.sections.map((section) => judge(candidateOf(event, section), party).basis.needs);
  return first.flatMap(({ memoryId, memory, needName, who, strength, comes, broughtAlong, stated }) => {
    const given = recalled.find(({ id }) => id === memoryId);
    const concerns = strength === "hard" && !broughtAlong && stated.state !== "moot" && (comes === "yes" || given !== undefined);
    if (!concerns) return [];
    const name = needMeant(needName);
    if (name === null && (event.kitchen === null || given?.category !== FOOD)) return [];
    const states = [stated, ...others.flatMap((needs) => needs.find((each) => each.memoryId === memoryId)?.stated ?? [])];
    const met = states.some(({ state }) => state === "met") || (states.every(({ state }) => state === "broken") ? false : null);
    const what = name === null ? memory : labelOf(name, met);
    return [{ memoryId, label: who === "self" ? what : `${what} for ${who}`, met, along: comes === "yes" }];
  });
}

/** The marks of its card. */
export function fitOf(event: CatalogueEvent, needs: readonly HeldNeed[], known: readonly RecalledMemory[]): FitMark[] {
  const ofNeeds = needs.map(({ memoryId, label, met }) => ({
    memory_id: memoryId,
    label: met === null ? `${label}: not stated` : label,
    met,
  }));
  return [...ofNeeds, ...known.flatMap((memory) => genreMark(event, memory) ?? [])];
}

/** For whoever tells the guest; of companions those who were spoken of. What there is none of is left out. */
export interface StatedOfNeeds extends JsonObject {
  readonly breaks?: string[];
  readonly meets?: string[];
  readonly not_stated?: string[];
}

export function statedOfNeeds(needs: readonly HeldNeed[]): StatedOfNeeds {
  const those = (state: boolean | null) => needs.flatMap(({ label, met, along }) => (along && met === state ? [label] : []));
  const [breaks, meets, notStated] = [those(false), those(true), those(null)];
  return {
    ...(meets.length > 0 && { meets }),
    ...(notStated.length > 0 && { not_stated: notStated }),
    ...(breaks.length > 0 && { breaks }),
  };
}

/** Only what is liked has a mark: an event of another kind breaks nothing. */
function genreMark(event: CatalogueEvent, { id, category, text, subject = "self" }: RecalledMemory): FitMark | null {
  if (category !== "genre" || subject !== "self" || isDisliked(text) || !genresIn(text).includes(event.genre)) return null;
  return { memory_id: id, label: event.genre, met: true };
}

function labelOf(name: NeedName, met: boolean | null): string {
  const { named, met: isMet, broken } = wordsOf(name);
  return met === null ? named : met ? isMet : broken;
}
