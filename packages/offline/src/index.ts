export { sentenceJudgeFor } from "./learnt/sentence-judge.js";
export { looksBack } from "./look-back.js";
export { OfflineModel } from "./offline-model.js";
export { OfflineReader } from "./offline-reader.js";
export { lower } from "./reading/said.js";
export { contentWords, sharedPart } from "./script/content-words.js";
export { domainScript } from "./script/domain-script.js";
export { isOff } from "./script/memory-moves.js";
export { MEMORY_OFF, NOT_KEPT, NOT_PLAIN, notedAs, ofWhom } from "./script/memory-replies.js";
export { type MemoryTalk, memoryTalk } from "./script/memory-talk.js";
export { callThen, failureOf, NOTHING_CANCELLED, say } from "./script/moves.js";
export { MONTHS, NUMBER, NUMBER_WORDS, ordinalIn } from "./script/ordinals.js";
export {
  besidesDroppingOut,
  bowsOut,
  companionsIn,
  dropsOut,
  leftOut,
  namesBeside,
  oneStaysBehind,
  partsOf,
  staysBehind,
} from "./script/party-words.js";
export { folded, phraseLists, TALK } from "./script/phrases.js";
export {
  agreesToKeep,
  asksOnlyToCancel,
  deniesCancelling,
  onlyDeniesCancelling,
  readReply,
  speaksOfCancelling,
} from "./script/reply.js";
