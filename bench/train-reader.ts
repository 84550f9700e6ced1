import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { packagedModel } from "../packages/minilm/src/packaged-files.js";
import { SentenceModel } from "../packages/minilm/src/sentence-model.js";
import { MeaningJudge, type SentenceWeights, WordsJudge } from "../packages/offline/src/learnt/sentence-judge.js";
import { addScore, type Conversation, emptyScore, type Score } from "../src/operations/evaluation-set.js";
import { silentLogger } from "../src/platform/logger.js";
import { standInReader } from "../test/support/stand-in.js";
import { conversationSets } from "./eval/conversations.js";
import { rememberedOf } from "./eval/remember.js";
import { type JudgedSentence, type Meaningful, sentencesIn, WRITTEN, writtenSentences } from "./reader/examples.js";
import { weightsOf } from "./reader/weights.js";

/**
 * Trains what the stand-in for a model judges sentences by: over their words and the vectors of the packaged model
 * (`packages/offline/src/learnt/sentence-weights.json`), or, with `--words`, over their words alone (`word-weights.json`). With `--left-out`
 * nothing is written: each set of conversations is read with what was learnt without it and a few others, as its writer is nobody that
 * was learnt of (a fifth of every set left out flatters); `--notes` what went wrong. The sets `unseen`, `newcomers`, `walk-ins` and
 * `first-timers` are for judging: nothing is learnt of them, though rules were written with their losses in sight.
 */
const SETS = [
  ...["seen", "strangers", "put-aside", "held-out", "passers-by", "regulars", "callers"],
  ...["commuters", "homebodies", "night-owls", "long-weekenders"],
];
/** So many parts of the sets are left out in turn. */
const FOLDS = 4;
const { values: options } = parseArgs({
  options: {
    words: { type: "boolean", default: false },
    "left-out": { type: "boolean", default: false },
    notes: { type: "boolean", default: false },
  },
});

const { file, ...embedder } = options.words ? withoutMeaning() : await withMeaning();

const sets = conversationSets().filter(({ name }) => SETS.includes(name));
const all: { readonly set: string; readonly conversation: Conversation; readonly sentences: readonly JudgedSentence[] }[] = [];
for (const { name: set, conversations } of sets)
  for (const conversation of conversations) all.push({ set, conversation, sentences: await sentencesIn(conversation, embedder) });
const written = await writtenSentences(embedder);
const whose = { embedder: embedder.id, meaning: embedder.meaning };
const judgeBy = (weights: SentenceWeights) =>
  options.words ? new WordsJudge(weights) : new MeaningJudge({ embedder, logger: silentLogger, weights });

if (options["left-out"]) await leftOut();
else {
  const sentences = [...all.flatMap((each) => each.sentences), ...written];
  const learnt = { made_by: "bench/train-reader.ts", of: [...SETS, ...WRITTEN], ...weightsOf(sentences, whose) };
  writeFileSync(file, `${JSON.stringify(learnt, null, 2)}\n`);
  console.log(`${sentences.length} sentences, of which ${sentences.filter(({ keep }) => keep).length} tell something lasting: ${file}`);
}

/** `id`: what the ids of such embedders begin with. */
interface Trained extends Meaningful {
  readonly id: string;
  readonly file: string;
}

function withoutMeaning(): Trained {
  const embed = async (texts: readonly string[]) => texts.map(() => new Float32Array());
  return { id: "", meaning: 0, file: fileOf("word-weights.json"), embed };
}

async function withMeaning(): Promise<Trained> {
  const model = await SentenceModel.open(packagedModel());
  const known = new Map<string, Float32Array>();
  return {
    id: "minilm-v1",
    meaning: 384,
    file: fileOf("sentence-weights.json"),
    embed: async (texts) => {
      for (const text of texts) if (!known.has(text)) known.set(text, await model.vectorOf(text));
      return texts.map((text) => known.get(text) ?? new Float32Array());
    },
  };
}

function fileOf(name: string): string {
  return fileURLToPath(new URL(`../packages/offline/src/learnt/${name}`, import.meta.url));
}

async function leftOut(): Promise<void> {
  const scores = new Map<string, Score>();
  // Of each fold several sets, as training takes its time; no writer wrote two.
  for (let fold = 0; fold < FOLDS; fold++) {
    const isLeft = (set: string) => SETS.indexOf(set) % FOLDS === fold;
    const learntOf = all.filter(({ set }) => !isLeft(set)).flatMap(({ sentences }) => sentences);
    const judge = judgeBy(weightsOf([...learntOf, ...written], whose));
    for (const { set, conversation } of all.filter((each) => isLeft(each.set))) {
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
  if (options.notes) for (const note of scores.get("all")?.notes ?? []) console.log(note);
}
