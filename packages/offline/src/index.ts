export { sentenceJudgeFor } from "./learnt/sentence-judge.js";
export { looksBack } from "./look-back.js";
export { OfflineModel } from "./offline-model.js";
export { OfflineReader } from "./offline-reader.js";
