import type { Memory, ProposedOperation } from "maitred";
import { folded, proposedOperationSchema, wordsIn } from "maitred/stand-in";
import { alike } from "./alike.js";
import { type Changes, OTHER } from "./changes.js";
import type { Dates } from "./dates.js";
import type { Vocabulary } from "./domain-words.js";
import type { Draft } from "./draft.js";
import { relationOf } from "./language.js";

/** What was read of a message, as the operations that a reader proposes over what is known. */
export function operationsFor(
  drafts: readonly { readonly draft: Draft; readonly dates: Dates }[],
  known: readonly Memory[],
  changes: Changes,
  vocabulary: Vocabulary,
  fitted: (category: string) => string,
): readonly ProposedOperation[] {
  // What is said again in the same breath has not ended.
  const kept = (target: Memory) => target.strength === "hard" && drafts.some(({ draft }) => sameAs(target, draft));
  const asked = changes.asked.filter(({ op, target }) => op === "forget" || !kept(target));
  const operations = asked.map(({ op, target, quote, plain }) =>
    proposedOperationSchema.parse({
      op,
      quote,
      target_id: target.id,
      about: target.about,
      category: target.category,
      subject: target.subject,
      need: target.need,
      // What must hold ends in plain words alone; of others the guest is asked.
      stance: plain || target.strength === "soft" ? "stated" : "unsure",
    }),
  );
  for (const { whom, what, quote } of changes.allAbout)
    operations.push(proposedOperationSchema.parse({ op: "forget", quote, about: what, subject: `companion:${whom}` }));
  for (const { target, about, text, quote } of changes.putRight)
    operations.push(
      proposedOperationSchema.parse({
        op: "supersede",
        quote,
        target_id: target.id,
        text,
        about,
        category: target.category,
        aspect: about,
        need: vocabulary.needsIn(wordsIn(about))[0]?.need ?? OTHER,
        strength: "hard",
        type: "constraint",
        subject: target.subject,
        entities: target.entities,
        stance: "unsure",
      }),
    );
  const taken = new Set([...asked, ...changes.putRight].map(({ target }) => target.id));
  const vegan = drafts.some(({ draft }) => draft.need === "vegan");
  for (const { draft, dates } of drafts) {
    // "No eggs, no dairy: vegan" is one need.
    if (vegan && draft.hard && draft.text.startsWith("No ")) continue;
    const category = fitted(draft.category);
    const free = known.filter(({ id }) => !taken.has(id));
    const alikes = free.find((memory) => !isAskedOtherwise(memory, draft) && sameAs(memory, draft));
    // Another number of one limit takes its place.
    const corrects = changes.corrects || draft.whole === true;
    const isOther = draft.whole
      ? folded(alikes?.text ?? "") !== folded(draft.text)
      : !alike(folded(alikes?.about ?? ""), folded(draft.about));
    const newer = alikes !== undefined && corrects && isOther;
    const same = newer ? undefined : alikes;
    const replaced = newer
      ? alikes
      : same === undefined
        ? free.find((memory) => isOtherDiet(memory, draft) || (corrects && isReplacedBy(memory, draft, category)))
        : undefined;
    if (replaced !== undefined) taken.add(replaced.id);
    operations.push(
      proposedOperationSchema.parse({
        op: same !== undefined ? "confirm" : replaced !== undefined ? "supersede" : "add",
        quote: draft.clause.text,
        target_id: same?.id ?? replaced?.id ?? null,
        text: same === undefined ? draft.text : "",
        about: draft.about,
        category,
        aspect: draft.aspect,
        condition: draft.condition,
        need: draft.need,
        strength: draft.hard ? "hard" : "soft",
        type: draft.hard ? "constraint" : null,
        subject: draft.subject,
        scope: draft.trip ? "trip" : "standing",
        ...dates,
        stance: draft.unsure ? "unsure" : "stated",
        confidence: 0.9,
        entities: draft.name === null ? [] : [draft.name],
      }),
    );
  }
  return operations;
}

function sameAs(memory: Memory, draft: Draft): boolean {
  if (!sameSubject(memory.subject, draft.subject)) return false;
  if (folded(memory.text) === folded(draft.text)) return true;
  return draft.need !== null && memory.need === draft.need && (draft.need !== "other" || alike(folded(memory.about), folded(draft.about)));
}

/** "I might be allergic to nuts" waits for the guest's word: "I am allergic to nuts" is told for itself, whatever that comes to. */
function isAskedOtherwise(memory: Memory, draft: Draft): boolean {
  return memory.status === "review" && folded(memory.text) !== folded(draft.text);
}

/** Vegetarian, then vegan: nobody is both. */
function isOtherDiet(memory: Memory, draft: Draft): boolean {
  return draft.aspect === "diet" && memory.aspect === "diet" && draft.need !== memory.need && sameSubject(memory.subject, draft.subject);
}

function isReplacedBy(memory: Memory, draft: Draft, category: string): boolean {
  return (
    !draft.hard &&
    memory.strength === "soft" &&
    memory.category === category &&
    memory.condition === draft.condition &&
    sameSubject(memory.subject, draft.subject)
  );
}

function sameSubject(a: string, b: string): boolean {
  if (a === b) return true;
  const [one, other] = [a, b].map((subject) => relationOf(subject.replace(/^companion:/u, "")));
  return one !== undefined && one === other;
}
