import talk from "../languages/need-talk.json" with { type: "json" };
import relationsOfGuests from "../languages/relations.json" with { type: "json" };
import { phrasesIn } from "../platform/phrase-list.js";
import type { NeedTalk } from "../ports/need-talk.js";
import { CONCIERGE_WORDS } from "./words.js";

const { avoided, holds, ...lists } = talk;
const { relations, children } = relationsOfGuests;

/** How the concierge's guests tell of what must hold, in the languages that it claims. */
export const CONCIERGE_NEED_TALK: NeedTalk = {
  ...(Object.fromEntries(Object.entries(lists).map(([part, lines]) => [part, phrasesIn(lines)])) as Record<keyof typeof lists, string[]>),
  words: CONCIERGE_WORDS.needs,
  relations: [...relations, ["child", ...children]],
  avoided,
  holds,
};
