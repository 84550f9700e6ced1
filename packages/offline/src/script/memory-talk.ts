import type { DomainWords, Need, ScriptMove, ScriptView } from "maitred";
import { needWordsOf, readableName } from "maitred/domain";
import { Vocabulary } from "../reading/domain-words.js";
import { understoodIn } from "../reading/understood.js";
import { Filing } from "./filing.js";
import { choice, memoryCommand } from "./memory-moves.js";
import { asking, settle } from "./settle.js";

/** What a script of any domain says of memory: commands, what waits for the guest's word, what could be meant. */
export interface MemoryTalk {
  /** A plain yes or no to what the answer before asked about; undefined where it is none. */
  settle(view: ScriptView): ScriptMove | undefined;
  /** What the message asks of the memory; undefined where it asks nothing. */
  command(view: ScriptView): ScriptMove | undefined;
  /** An answer to "which of these do you mean?"; undefined where nothing was asked. */
  choice(view: ScriptView): ScriptMove | undefined;
  /** An answer that asks nothing else asks about what waits. */
  asking(move: ScriptMove, view: ScriptView): ScriptMove;
  speaksOfNeed(text: string): boolean;
  /** What is understood of a message without a doubt, in the words of the memories that may come of it. */
  understood(text: string): readonly string[];
}

/** `words`: of the domain's needs and categories. Default: what the needs themselves say. */
export function memoryTalk(needs: readonly Need[], words: DomainWords = { needs: needWordsOf(needs), categories: {} }): MemoryTalk {
  const names = new Set(needs.map(({ name }) => readableName(name).toLowerCase()));
  const filing = new Filing(words);
  const vocabulary = new Vocabulary(words, new Set(needs.map(({ name }) => name)));
  return {
    settle: (view) => settle(view, names),
    command: (view) => memoryCommand(view, filing, names),
    choice: (view) => choice(view, filing),
    asking: (move, view) => asking(move, view, names),
    speaksOfNeed: (text) => filing.speaksOfNeed(text),
    understood: (text) => understoodIn(text, vocabulary),
  };
}
