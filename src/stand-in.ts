/** What a stand-in for a model is made with: the form of what it reads and proposes, and words, phrases and dates as Maitred reads them. */

export { holdsSecret } from "./domain/secrets.js";
export { attitudeIn } from "./languages/attitudes.js";
export { AppError as MaitredError, isAppError as isMaitredError } from "./platform/errors.js";
export { dateReader } from "./platform/language/date-reader.js";
export { isStopWord, latinLanguageOf } from "./platform/language/stop-words.js";
export { editDistance } from "./platform/nearest-name.js";
export { BROUGHT, ownText } from "./platform/own-text.js";
export { anyPhrase, folded, phrasesIn, plain, WordList, wordsIn } from "./platform/phrase-list.js";
export { aheadOfUtcMs } from "./platform/time-zone.js";
export {
  ASKED_ENOUGH,
  ASKED_NOT_TO_KEEP,
  CONTEXT_HEADINGS,
  isSummary,
  MEMORY_IS_OFF,
  MESSAGE_BEGINS,
  messageIn,
  NOW_BEGINS,
  SUMMARY_ENDS,
  unmarked,
} from "./ports/context-headings.js";
export { proposedOperationSchema } from "./ports/extraction.js";
export type { GiveWay } from "./ports/give-way.js";
