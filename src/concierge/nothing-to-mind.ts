import { clausesOf } from "./clauses.js";

/**
 * Whether a guest says that nobody who comes has a need to mind: every clause has to say so, or be a plain yes, no or thanks.
 * English, German, French, Spanish, Italian, Portuguese; patterns see clauses of {@link clausesOf}.
 */
export function saysNothingToMind(text: string): boolean {
  if (text.includes("?")) return false;
  const clauses = clausesOf(text);
  if (clauses.some((clause) => FULL.test(clause))) return clauses.every((clause) => FULL.test(clause) || BESIDE.test(clause));
  // A mere "nothing" with thanks is a refusal as well as an answer.
  return clauses.some((clause) => BARE.test(clause)) && clauses.every((clause) => BARE.test(clause) || NO.test(clause));
}

const NO = /^(?:no|nope|nein|non|nao)$/u;
const BARE =
  /^(?:(?:no|nope|nein|non|nao) )?(?:nothing|none|nichts|keine|rien|aucune?|nada|ninguna?|niente|nessuna?|nenhuma?)(?: at all)?$/u;
const NEEDS =
  "(?:needs?|constraints?|restrictions?|requirements?|allergies|allergy|diets?|limitations?|issues?)(?: (?:and|or) (?:needs|constraints|restrictions|requirements|allergies|diets|limitations))?";
const FULL = new RegExp(
  `^(?:and )?(?:(?:no|nein|non|nao) )?(?:${[
    "(?:there(?:'s| is) )?(?:nothing|none)(?: (?:special|in particular|to (?:mind|consider|note|declare|report|worry about|look out for)|that i know of|i can think of|we need))+(?: at all)?",
    "there(?:'s| is) (?:nothing|none)",
    `(?:there (?:are|is) |(?:i|we)(?:'ve got| have(?: got)?) )?(?:no|without|not any)(?: (?:special|particular|dietary|access|such|other))* ${NEEDS}(?: at all)?`,
    `(?:i|we|nobody|no one)(?: (?:haven't|have not|don't have|do not have|has))? any(?: (?:special|particular|dietary|access))* ${NEEDS}`,
    "(?:nobody|no one|none of us) (?:does|has any|needs anything(?: special)?)",
    "nichts (?:besonderes|zu beachten|weiter)|es gibt nichts(?: (?:besonderes|zu beachten))?",
    "(?:wir haben |ich habe |es gibt )?keine(?: besonderen)? (?:einschrankungen|bedurfnisse|allergien|anforderungen)",
    "rien (?:de (?:special|particulier)|a signaler)|il n'y a rien(?: (?:a signaler|de (?:special|particulier)))?",
    "(?:nous n'avons |je n'ai )?(?:aucune?|pas d[e']) ?(?:allergies?|restrictions?|contraintes?|besoins?)(?: particuli(?:ers?|eres?))?",
    "nada (?:especial|en especial|en particular|que tener en cuenta)|no hay nada(?: que tener en cuenta| especial)?",
    "(?:ningun[ao]?|sin|no (?:tengo|tenemos|hay)) (?:alergias?|restricci(?:on|ones)|necesidad(?:es)?)(?: especial(?:es)?)?",
    "niente (?:di (?:particolare|speciale)|da segnalare)|non c'e niente(?: (?:da segnalare|di particolare))?",
    "(?:nessun[a']? ?|senza |non (?:ho|abbiamo) )(?:allergi[ae]|restrizion[ei]|esigenz[ae]|necessita)(?: particolar[ei])?",
    "nada (?:de especial|em especial|em particular|a assinalar)|nao ha nada(?: (?:a assinalar|de especial))?",
    "(?:nenhuma? |sem |nao (?:tenho|temos) )(?:alergias?|restric(?:ao|oes)|necessidades?)(?: especia(?:l|is))?",
  ].join("|")})$`,
  "u",
);
const BESIDE =
  /^(?:(?:no|nope|yes|yeah|yep|ok|okay|please|nein|ja|bitte|non|oui|si|nao|sim|thanks|thank you|danke|merci|gracias|grazie|obrigad[oa]|por favor|per favore|really|(?:and )?(?:please )?(?:go ahead|book (?:it|them)))(?: |$))+$/u;
