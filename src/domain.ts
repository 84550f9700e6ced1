/**
 * What a domain is made with that keeps records of its own, or asks the gate itself, beyond `defineDomain`: a guest's words of consent,
 * names of people, numbers of limits, and commits in an owner's partition. Types that are not here are those of `maitred`.
 */

export { type Category, category } from "./domain/categories.js";
export { readableName } from "./domain/need-name.js";
export { only, shorterList } from "./domain/recap.js";
export { waivedIn } from "./gate/booking-receipt.js";
export { areSaidTogether, isNamedIn, joined, namesOf, RELATIONS } from "./gate/companions.js";
export { ANSWERABLE_TURNS, standsIn } from "./gate/shown-calls.js";
export { candidateOf, type StatedParts } from "./gate/stated.js";
export { whyUnchecked } from "./gate/verdict.js";
export { needTalkOf, needWordsOf, OFF_RECORD } from "./languages/need-talk.js";
export { numberIn } from "./languages/numbers.js";
export { recallTableOf } from "./languages/recall-talk.js";
export { type MemoryOccasions, type MessageWords, type Occasion, RecallWords } from "./memories/recall-words.js";
export { AppError as MaitredError, isAppError as isMaitredError } from "./platform/errors.js";
export { derivedId, newId } from "./platform/ids.js";
export { committed } from "./state/durable-commit.js";
export { prefixRange } from "./state/engine.js";
export { named, numberKey, ownerPartition, systemPartition } from "./state/partition.js";
