import type { JsonObject, Judge, RecalledMemory } from "maitred";
import type { CatalogueEvent } from "./catalogue.js";
import { candidateOf, statedOf } from "./need-check.js";
import { type NeedName, needMeant } from "./needs.js";
import { says } from "./phrases.js";
import { genresIn } from "./script/words.js";

/** How an event suits what the turn knows of the guest: a mark for each memory that the catalogue has an answer to. */

const COMPANION = "companion:";

export interface FitMark extends JsonObject {
  readonly memory_id: string;
  readonly label: string;
  readonly met: boolean | null;
}

/**
 * In the order of the memories: `memory_id`, what the catalogue says in a word or two (`label`), and whether that meets it (`met`; null
 * where the catalogue doesn't say). What an event can't break, as food where none is served, has no mark.
 */
export function fitOf(event: CatalogueEvent, known: readonly RecalledMemory[]): FitMark[] {
  return known.map((memory) => needMark(event, memory) ?? genreMark(event, memory)).filter((mark) => mark !== null);
}

/** A need that an event breaks: in a word or two, and the memory that tells it. */
export interface Broken {
  readonly label: string;
  readonly memoryId: string;
}

/**
 * What of the guest's needs, and of those of companions that were spoken of, no section of an event meets; empty where nothing known
 * stands against it.
 */
export function brokenBy(event: CatalogueEvent, judge: Judge, said: readonly string[], sessionId: string): Broken[] {
  // Of so many people whoever was spoken of may be one.
  const party = { companions: [], absent: [], size: Number.MAX_SAFE_INTEGER, said, sessionId };
  const [first = [], ...others] = event.sections.map((section) => judge(candidateOf(event, section), party).conflicts);
  const everywhere = first.filter(({ memoryId }) => others.every((conflicts) => conflicts.some((each) => each.memoryId === memoryId)));
  return everywhere.map(({ needName, need, who, memoryId }) => {
    const name = needMeant(needName);
    return { memoryId, label: name === null ? need : labelOf(name, false) + (who === "self" ? "" : ` for ${who}`) };
  });
}

function needMark(event: CatalogueEvent, { id, need, subject = "self" }: RecalledMemory): FitMark | null {
  const name = needMeant(need ?? null);
  if (name === null) return null;
  const states = event.sections.map((section) => statedOf(name, { event, section }));
  if (states.includes("moot")) return null;
  const met = states.includes(true) ? true : states.includes(false) ? false : null;
  const who = subject.startsWith(COMPANION) ? ` for ${subject.slice(COMPANION.length)}` : "";
  return { memory_id: id, label: labelOf(name, met) + who, met };
}

/** Only what is liked has a mark: an event of another kind breaks nothing. */
function genreMark(event: CatalogueEvent, { id, category, text, subject = "self" }: RecalledMemory): FitMark | null {
  if (category !== "genre" || subject !== "self" || says(text, "dislikes") || !genresIn(text).includes(event.genre)) return null;
  return { memory_id: id, label: event.genre, met: true };
}

function labelOf(name: NeedName, met: boolean | null): string {
  const without = name.startsWith("no_") ? name.slice("no_".length) : null;
  if (met === null) return `${without ?? name.replaceAll("_", " ")}: not stated`;
  if (without !== null) return met ? `without ${without}` : `not without ${without}`;
  if (name === "step_free") return met ? "step-free" : "not step-free";
  if (name === "hearing_loop" || name === "assistance_dog")
    return `${met ? "" : "no "}${name.replace("_", " ")}${met || name === "hearing_loop" ? "" : "s"}`;
  return met ? `${name} menu` : `no ${name} menu`;
}
