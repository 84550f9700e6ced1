import { isGroup, namesOf, RELATIONS } from "../companions.js";
import { phrase, says, without } from "../phrases.js";
import { plain } from "../vocabulary.js";
import { clausesOf } from "./clauses.js";

/** Who comes along and who stays behind, by the words of a message: what a model would read, for the script. */

/** Whether a message speaks of a companion as one who comes along. */
export function spokenOf(companion: string, words: string): boolean {
  if (staysBehind(companion, words)) return false;
  const text = plain(words);
  return namesOf(companion).some((name) => naming(name).test(text)) || isGroup(companion, text.match(/[\p{L}-]+/gu) ?? []);
}

const RELATION = new RegExp(
  `^\\s+(?:[\\p{L}-]+\\s+)?(${[...new Set(RELATIONS.flat())].sort((a, b) => b.length - a.length).join("|")})(?!\\p{L})`,
  "u",
);

/** Relations that the guest speaks of as theirs, as they call them: "my mum", "unsere Tochter". Not those who stay behind. */
export function companionsIn(words: string): readonly string[] {
  const text = plain(words);
  const found = [...text.matchAll(new RegExp(phrase("mine").source, "giu"))].flatMap(({ index, 0: mine }) => {
    const relation = mine === "the" ? undefined : RELATION.exec(text.slice(index + mine.length, index + mine.length + 60))?.[1];
    return relation === undefined ? [] : [relation];
  });
  return [...new Set(found)].filter((name) => !staysBehind(name, words));
}

/** Whether the guest's words take a companion out of the party: "without my mother", "Sam isn't coming", "just me". When in doubt: no. */
export function staysBehind(companion: string, words: string): boolean {
  const text = plain(words).trim();
  if (text.includes("?") || says(text, "whether")) return false;
  const names = namesOf(companion).map(naming);
  const clauses = clausesOf(words);
  if (!names.some((name) => name.test(text)))
    return (
      !says(text, "together") &&
      clauses.some((clause) => says(clause, "alone") && without(clause, "alone", "beside_alone", "polite") === "")
    );
  return clauses.some((clause) => names.some((name) => leaves(clause, name)));
}

function leaves(clause: string, name: RegExp): boolean {
  const left = phrase("without").exec(clause);
  const after = ({ index, 0: found }: RegExpExecArray) => clause.slice(index + found.length);
  if (left !== null && !says(clause.slice(0, left.index), "negation"))
    return name.test(after(left)) && without(after(left).replace(name, " "), "mine", "after_coming") === "";
  const stays = phrase("not_coming").exec(clause);
  if (stays === null || without(after(stays), "after_coming") !== "") return false;
  const who = clause.slice(0, stays.index);
  // One word may stand beside who it is: "my wife Helen".
  return name.test(who) && !/\s/u.test(without(who.replace(name, " "), "mine", "polite", "negation"));
}

function naming(name: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\p{L}\\p{N}])`, "u");
}
