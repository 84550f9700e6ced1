/** Courtesy, assent and hesitation, in the languages of the rules: true of everybody, and of no use as a memory. */
const SMALL_TALK = new Set(
  (
    "thanks thank thx cheers you ta hi hello hey howdy good great fine cool nice perfect lovely wonderful super excellent brilliant awesome amazing morning afternoon evening night day bye goodbye see later soon " +
    "yes yep yeah yup no nope nah ok okay sure right alright well hm hmm hmmm mhm uh uhm um erm oh ah aha wow oops please sorry pardon welcome so then and very much a lot indeed really exactly correct agreed maybe perhaps lol haha go on ahead " +
    "danke vielen dank bitte hallo guten tag morgen abend ja nein gut prima toll genau tschüss merci beaucoup bonjour bonsoir salut oui non bien d'accord parfait au revoir " +
    "gracias muchas hola buenos días buenas tardes noches sí si vale bueno perfecto adiós grazie mille ciao buongiorno buonasera sì bene perfetto arrivederci prego"
  ).split(" "),
);

/** Whether the words are nothing but small talk: "Thanks!", "Hm, ok." */
export function isSmallTalk(text: string): boolean {
  const words =
    text
      .normalize("NFC")
      .toLowerCase()
      .replace(/[’‘]/gu, "'")
      .match(/[\p{L}\p{N}][\p{L}\p{N}'-]*/gu) ?? [];
  return words.every((word) => SMALL_TALK.has(word));
}
