import type { Observation, ScriptMove, ScriptView, WaitingLine } from "maitred";
import { RELATIONS } from "maitred/domain";
import { z } from "zod";
import { NOT_PLAIN } from "./memory-replies.js";
import { callThen, say } from "./moves.js";
import { agreesToKeep, readReply, takesBackAnother } from "./reply.js";

/** What waits for the guest's word: asked about at the end of an answer, and settled by a plain yes or no in the next message. */

/** Longer messages say something else too. */
const MAX_ANSWER_WORDS = 6;
/** How the list of what waits tells a change of what holds. */
const CHANGE = /^(?<who>[^:\n]{1,64}: )??(?:Forget: (?<forgotten>.+)|No longer: (?<ended>.+)|(?<now>.+) \(instead of: (?<before>.+)\))$/su;

/** `needs`: the names of the domain's, as they are read. */
export function question(line: WaitingLine, needs: ReadonlySet<string>): string {
  const { text, offRecord } = line;
  if (offRecord === true) return `You asked me not to keep “${text}”. Shall I all the same, so that bookings mind it?`;
  const [, name = "", said = ""] = /^([^:\n]{1,64}): (.+)$/su.exec(text) ?? [];
  // "Colleague: Colleague Tom can't eat nuts".
  if (name !== "" && said.toLowerCase().includes(name.toLowerCase())) return question({ ...line, text: said }, needs);
  const minded = mindedIn(text, needs);
  if (minded !== null) return minded;
  const { who = "", forgotten, ended, now, before } = CHANGE.exec(text)?.groups ?? {};
  if (forgotten !== undefined) return `Shall I forget “${who}${forgotten}”?`;
  if (ended !== undefined) return `Does this no longer hold: “${who}${ended}”?`;
  return now === undefined ? `Shall I keep “${text}”?` : `Does “${who}${now}” now hold instead of “${before}”?`;
}

/** A need by its name: "No nuts", "Friend: assistance dog (guide dog)". */
const NEED = /^(?<what>[^()\n]{1,80})(?<word> \([^()\n]{1,80}\))?$/su;

/** Of a need that nobody has told more of than its name. Null for all else. */
function mindedIn(text: string, needs: ReadonlySet<string>): string | null {
  const [, who = "", said = text] = /^([^:\n]{1,64}): (.+)$/su.exec(text) ?? [];
  const { what = "", word = "" } = NEED.exec(said)?.groups ?? {};
  const name = what.toLowerCase();
  if (!needs.has(name)) return null;
  const thing = `${name.startsWith("no ") ? name.slice(3) : name}${word}`;
  const relation = RELATIONS.some((names) => names.includes(who.toLowerCase()));
  return `Must I mind ${thing} for ${who === "" ? "you" : relation ? `your ${who.toLowerCase()}` : who}?`;
}

/** What a yes or a no came to, for what is new and for what changes. */
function settled(asked: readonly WaitingLine[], yes: boolean): string {
  const kinds = asked.map(({ text }) => CHANGE.exec(text)?.groups);
  const forgets = kinds.filter((kind) => kind?.forgotten !== undefined).length;
  const changes = kinds.filter((kind) => kind !== undefined).length - forgets;
  const kept = asked.length > changes + forgets ? [yes ? "I keep it." : "I don't keep it."] : [];
  const changed = changes > 0 ? [yes ? "I go by that from now on." : "What I knew stays as it is."] : [];
  const forgot = forgets > 0 ? [yes ? "I have forgotten that." : "I keep what I knew."] : [];
  return [yes ? "Thank you." : "Understood.", ...kept, ...changed, ...forgot].join(" ");
}

const waitsSchema = z.looseObject({ status: z.literal("waits"), waits: z.array(z.looseObject({ memory_id: z.string() })) });

/** What a tool put to wait, and the answer then asked about in its own words. */
function putToWait({ name, output }: Observation): readonly string[] {
  if (name !== "forget" && name !== "no_longer_true") return [];
  return waitsSchema.safeParse(output).data?.waits.map(({ memory_id }) => memory_id) ?? [];
}

/** Settles only what the answer before it asked about, and only by a plain yes or no. */
export function settle(view: ScriptView, needs: ReadonlySet<string>): ScriptMove | undefined {
  const answered = view.window.at(-1)?.assistant ?? "";
  const offered = new Set(view.window.at(-1)?.observations.flatMap(putToWait));
  const asked = view.waiting.filter((line) => answered.includes(question(line, needs)) || offered.has(line.id));
  const quote = view.message.trim();
  const { yes: agrees, partly, order, ...says } = readReply(quote);
  // "Keep it": whether what it is about still holds isn't said.
  const changes = asked.some(({ text }) => CHANGE.test(text));
  const yes = agrees || (agreesToKeep(quote) && !changes);
  // "Forget that", of what would be kept.
  const declines = !changes && view.commands[0]?.kind === "forget_that";
  const no = declines || (says.no && !takesBackAnother(quote));
  const answersIt = asked.length > 0 && (declines || view.commands.length === 0) && quote.split(/\s+/).length <= MAX_ANSWER_WORDS;
  if (answersIt && partly) return say(`${NOT_PLAIN} ${asked.map((line) => question(line, needs)).join(" ")}`);
  if (!answersIt || yes === no || order) return undefined;
  const answers = asked.map(({ id }) => ({ memory_id: id, answer: yes ? "yes" : "no", quote }));
  return callThen(view, { name: "settle_memory", arguments: { answers } }, () => settled(asked, yes));
}

/** An answer that asks nothing else asks about one thing that waits, once in the window: a yes is then to that. */
export function asking(move: ScriptMove, view: ScriptView, needs: ReadonlySet<string>): ScriptMove {
  const mayAsk = view.tools.has("settle_memory") && !view.observations.some(({ name }) => name === "settle_memory");
  if (move.type !== "say" || move.text.trimEnd().endsWith("?") || !mayAsk) return move;
  const before = view.window.map(({ assistant }) => assistant).join("\n");
  // What this turn did to one of them has settled it.
  const touched = view.observations.flatMap(({ input }) => z.looseObject({ memory_id: z.string() }).safeParse(input).data?.memory_id ?? []);
  const still = view.waiting.filter(({ id, askedEnough }) => !askedEnough && !touched.includes(id));
  const open = still.map((line) => question(line, needs)).find((asked) => !before.includes(asked));
  return open === undefined ? move : { type: "say", text: `${move.text}\n\n${open}` };
}
