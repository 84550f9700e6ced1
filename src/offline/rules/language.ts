/** The language of one sentence, by its commonest words; English where nothing tells. */

export type Language = "en" | "de" | "fr" | "es" | "it";

const TELLING: readonly (readonly [Exclude<Language, "en">, RegExp])[] = [
  [
    "de",
    /(?<!\p{L})(?:ich|wir|mein(?:e|en|er|em)?|unser(?:e|en)?|bin|sind|mag|nicht|kein(?:e|en)?|und|für|der|das|dem|den|einen?|möchte|lieber|immer|gegen|im|zu|mir|mich|sitze|wohne|isst|esse|trinke|vertrage|hat|ist|hasse|liebe|brauche|kann|keine|höre|gern|gerne|am|eine|hallo|bitte|mehr|diesmal)(?!\p{L})/giu,
  ],
  [
    "fr",
    /(?<!\p{L})(?:je|j'|nous|mon|ma|mes|notre|suis|sommes|ai|est|le|la|les|des|du|aux?|et|pas|plus|toujours|préfère|aime|déteste|pour|en|une?|ne|on|n'|bonjour|depuis|allergique|moi|dans|chez)(?!\p{L})|(?<!\p{L})[jldnmtsq]'/giu,
  ],
  [
    "es",
    /(?<!\p{L})(?:yo|soy|somos|mi|mis|me|nuestr[oa]s?|gusta|gustan|el|los|las|una?|no|y|en|con|para|de|a|siempre|prefiero|tengo|vivo|uso|es|normalmente|puedo|quiero|por|al|como|ya|hola|alergia|personas|reservo|desde|bebo|comemos|bebemos|sentarme)(?!\p{L})|[¿¡ñ]/giu,
  ],
  [
    "it",
    /(?<!\p{L})(?:io|sono|siamo|mio|mia|miei|mie|il|lo|gli|le|un|una|non|e|è|in|con|per|di|a|sempre|preferisco|ho|abito|vivo|uso|odio|amo|adoro|mi|piace|piacciono|voglio|ai|allergic[oaie]|bevo|siamo|alle|agli|al|alla|più|normalmente|posso|mangio|buongiorno|da|vicino|posti)(?!\p{L})/giu,
  ],
];
const ENGLISH =
  /(?<!\p{L})(?:we|my|our|the|a|an|is|are|am|not|and|to|of|for|at|with|in|until|from|me|us|don't|can't|it|that|this|please|always|usually|no|on|be|have|like|need|or|there|you|im|can't|cant|don't|dont|love|hate|prefer|usually|never|but|so|and|my|i'm)(?!\p{L})/giu;

/** One letter, two languages: told apart by its case. */
const ENGLISH_I = /(?<!\p{L})I(?:'m|'ve|'d|'ll)?(?!\p{L})/gu;
const ITALIAN_I = /(?<!\p{L})i(?!\p{L}|')/gu;

export function languageOf(sentence: string): Language {
  const text = sentence.replace(/[’‘]/gu, "'");
  let best: Language = "en";
  let most = (text.match(ENGLISH)?.length ?? 0) + (text.match(ENGLISH_I)?.length ?? 0);
  for (const [language, words] of TELLING) {
    const found = (text.match(words)?.length ?? 0) + (language === "it" ? (text.match(ITALIAN_I)?.length ?? 0) : 0);
    if (found > most) {
      best = language;
      most = found;
    }
  }
  return best;
}
