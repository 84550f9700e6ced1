import { kindByName } from "../domain/need-name.js";
import { phrasesIn } from "../platform/phrase-list.js";
import type { Need } from "../ports/agent.js";
import type { NeedTalk } from "../ports/need-talk.js";
import talk from "./need-talk.json" with { type: "json" };
import offRecord from "./off-record.json" with { type: "json" };
import relationsOfGuests from "./relations.json" with { type: "json" };

const { avoided, ...lists } = talk;
const { relations, children } = relationsOfGuests;
const phrases = Object.fromEntries(Object.entries(lists).map(([part, lines]) => [part, phrasesIn(lines)])) as Record<
  keyof typeof lists,
  string[]
>;

/** How guests tell of what must hold, of a domain's needs by their words, in the languages that the lists have. */
export function needTalkOf(words: NeedTalk["words"]): NeedTalk {
  return { ...phrases, words, relations: [...relations, ["child", ...children]], avoided };
}

/** What names a domain's needs. Default of `kind`: `avoid` for a name that begins with `no_`, else `be`; of `category`: `other`. */
export function needWordsOf(needs: readonly Need[]): NeedTalk["words"] {
  return needs.map(({ name: need, words = [], kind = kindByName(need), category = "other" }) => ({
    need,
    words,
    kind: kind === "at_most" || kind === "at_least" ? "limit" : kind,
    category,
  }));
}

/** Plain forms by which guests ask that something is not kept. */
export const OFF_RECORD: readonly string[] = phrasesIn(offRecord);
