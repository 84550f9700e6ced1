import { guarded } from "../src/long-term/promotable.js";
import { RuleExtractor } from "../src/offline/rule-extractor.js";
import { IN_PASSING } from "../test/corpus/in-passing.js";
import { IN_PASSING_HELD_OUT } from "../test/corpus/in-passing-held-out.js";
import { type Score, scoreOf } from "../test/corpus/score.js";
import { UTTERANCES } from "../test/corpus/utterances.js";

/**
 * Precision and recall of extraction without a model, through the guards, on the labelled set and on what guests say in passing.
 * `--misses` also prints what went wrong on the part that the rules were written against; the held-out part stays unseen.
 */
const extractor = guarded(new RuleExtractor());
const rows: [string, Score][] = [
  ["all", await scoreOf(extractor, UTTERANCES)],
  [
    "developed on",
    await scoreOf(
      extractor,
      UTTERANCES.filter((utterance) => !utterance.held),
    ),
  ],
  [
    "held out",
    await scoreOf(
      extractor,
      UTTERANCES.filter((utterance) => utterance.held),
    ),
  ],
];
for (const lang of ["en", "de", "fr", "es", "it"] as const)
  rows.push([
    lang,
    await scoreOf(
      extractor,
      UTTERANCES.filter((utterance) => utterance.lang === lang),
    ),
  ]);

rows.push(["passing, open", await scoreOf(extractor, IN_PASSING)], ["passing, held", await scoreOf(extractor, IN_PASSING_HELD_OUT)]);

console.log("RuleExtractor on the labelled sets\n");
console.log(["part", "utterances", "expected", "right", "wrong", "missed", "precision", "recall"].map((head) => head.padEnd(15)).join(""));
for (const [part, score] of rows)
  console.log(
    [
      part,
      score.utterances,
      score.right + score.missed.length,
      score.right,
      score.wrong.length,
      score.missed.length,
      score.precision.toFixed(3),
      score.recall.toFixed(3),
    ]
      .map((cell) => String(cell).padEnd(15))
      .join(""),
  );

if (process.argv.includes("--misses")) {
  const developed = rows.filter(([part]) => part === "developed on" || part === "passing, open").map(([, score]) => score);
  for (const { utterance, statement } of developed.flatMap(({ wrong }) => wrong))
    console.log(
      `wrong   ${utterance.text}\n        ${statement.category}/${statement.aspect} ${statement.subject} ${statement.scope} ${statement.strength}: ${statement.text}`,
    );
  for (const { utterance, expected } of developed.flatMap(({ missed }) => missed))
    console.log(`missed  ${utterance.text}\n        ${expected.category} ${expected.text} ${expected.subject} ${expected.scope}`);
}
