import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { packagedModel } from "../src/embedding/minilm/packaged-files.js";
import { SentenceModel } from "../src/embedding/minilm/sentence-model.js";
import { SentenceJudge } from "../src/offline/learnt/sentence-judge.js";
import { silentLogger } from "../src/platform/logger.js";
import { standInReader } from "../test/support/stand-in.js";
import { type Conversation, conversationSets } from "./eval/conversations.js";
import { rememberedOf } from "./eval/remember.js";
import { addScore, emptyScore, type Score } from "./eval/score.js";
import { type JudgedSentence, sentencesIn, writtenSentences } from "./reader/examples.js";
import { weightsOf } from "./reader/weights.js";

/**
 * Trains what the stand-in for a model judges sentences by, and writes it into `src/offline/learnt/sentence-weights.json`. With `--folds`
 * nothing is written: it is trained five times with a fifth of the conversations left out, and read with that on those; `--notes` what went
 * wrong. The sets `unseen` and `newcomers` are for judging: nothing is learnt of them.
 */
const SETS = ["seen", "strangers", "put-aside", "held-out", "passers-by"];
const FOLDS = 5;
const WRITTEN = "bench/reader/sentences.txt";
const FILE = fileURLToPath(new URL("../src/offline/learnt/sentence-weights.json", import.meta.url));

const model = await SentenceModel.open(packagedModel());
const known = new Map<string, Float32Array>();
const embedder = {
  id: "minilm-v1",
  embed: async (texts: readonly string[]) => {
    for (const text of texts) if (!known.has(text)) known.set(text, await model.vectorOf(text));
    return texts.map((text) => known.get(text) ?? new Float32Array());
  },
};

const sets = conversationSets().filter(({ name }) => SETS.includes(name));
const all: { readonly set: string; readonly conversation: Conversation; readonly sentences: readonly JudgedSentence[] }[] = [];
for (const { name: set, conversations } of sets)
  for (const conversation of conversations) all.push({ set, conversation, sentences: await sentencesIn(conversation, embedder) });
const written = await writtenSentences(embedder);

if (process.argv.includes("--folds")) await folds();
else {
  const sentences = [...all.flatMap((each) => each.sentences), ...written];
  const learnt = { made_by: "bench/train-reader.ts", of: [...SETS, WRITTEN], ...weightsOf(sentences, embedder.id) };
  writeFileSync(FILE, `${JSON.stringify(learnt, null, 2)}\n`);
  console.log(`${sentences.length} sentences, of which ${sentences.filter(({ keep }) => keep).length} tell something lasting: ${FILE}`);
}

async function folds(): Promise<void> {
  const scores = new Map<string, Score>();
  for (let fold = 0; fold < FOLDS; fold++) {
    const isLeftOut = (_: unknown, at: number) => at % FOLDS === fold;
    const learntOf = all.filter((each, at) => !isLeftOut(each, at)).flatMap(({ sentences }) => sentences);
    const weights = weightsOf([...learntOf, ...written], embedder.id);
    const judge = SentenceJudge.of({ embedder, logger: silentLogger, weights });
    for (const { set, conversation } of all.filter(isLeftOut)) {
      const memories = await rememberedOf(conversation, () => standInReader(judge));
      for (const name of [set, "all"]) {
        const score = scores.get(name) ?? emptyScore();
        scores.set(name, score);
        addScore(score, conversation, memories);
      }
    }
  }
  for (const [name, { expected, kept, asked, lost, hardLost, wrong, wrongHard, right, unexpected, traps }] of scores) {
    const figures = { expected, kept, asked, lost, hardLost, wrong, wrongHard, traps };
    const precision = right / (right + unexpected);
    console.log(name.padEnd(12), `precision ${precision.toFixed(2)}, recall ${(kept / expected).toFixed(2)}`, JSON.stringify(figures));
  }
  if (process.argv.includes("--notes")) for (const note of scores.get("all")?.notes ?? []) console.log(note);
}
