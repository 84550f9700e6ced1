/**
 * What hands over words that are not the guest's (see borrowed.ts), in German, French, Spanish and Italian. One group a language:
 * who speaks or where it stands, what is to be written or translated, what comes next. Text comes without its last full stop.
 */

const B = "(?<!\\p{L})";
const E = "(?!\\p{L})";
const W = "\\p{L}*";

function forms(...sources: readonly string[]): readonly RegExp[] {
  return sources.map((source) => new RegExp(source, "iu"));
}

export const FOREIGN_INTRODUCTIONS: readonly RegExp[] = [
  // German
  ...forms(
    `^(?:und |so |hier,? )*(?:dies|folgendes|hier|das (?:ist|war|stand|steht|schrieb|kommt|stammt|sagte|hat)|was|unten|oben|anbei|im folgenden)${E}(?!.{0,40}${B}(?:ich|wir|mein${W}|unser${W})${E}).{0,60}${B}(?:stand|steht|stammt|kommt|schrieb|schickte|sagte|meinte|lautet${W}|nachricht|mail|brief|text|seite|webseite|prospekt|flyer|plakat|bewertung|zitat|auszug|werbung|antwort)${E}`,
    `${B}(?:kopiert|abgeschrieben|eingefügt|weitergeleitet|zitiert|abgetippt|zitat|wörtlich|wortwörtlich|in (?:seinen|ihren) worten|nicht (?:von mir|meine worte)|stand (?:da|auf|in|im|am|an)|gefunden auf|übernommen (?:von|aus))${E}`,
    `^(?:(?:sein|ihr|deren|dessen)${W}|(?:die|das|der) ${W} (?:mein|sein|ihr|unser)${W}|mein${W} ${W}s) (?:${W} ){0,2}(?:nachricht|mail|brief|antwort|worte?|spruch|motto|meinung|bewertung|text)${E}(?!.{0,60}${B}(?:ich|wir)${E})`,
    `^(?:bitte )?(?:(?:kannst|könntest) du |(?:können|könnten) sie )?(?:mir )?(?:bitte )?(?:schreib${W}|verfass${W}|dicht${W}|entwirf|entwerf${W}|formulier${W}|verbesser${W}|korrigier${W}|übersetz${W}|erfind${W}|setz${W}|führe?|beend${W}|mach${W}|stell dir)${E}.{0,60}${B}(?:gedicht${W}|geschichte${W}|biogra[fp]h?ie|lebenslauf|roman|brief${W}|rede|text${W}|satz|aufsatz|bewertung|anzeige|profil|lied|drehbuch|tagebuch${W}|karte|ins? (?:englische|deutsche|französische|spanische|italienische)|daraus|auf (?:englisch|deutsch|französisch|spanisch|italienisch))${E}`,
    `^(?:bitte )?(?:übersetz|korrigier)${W}${E}`,
    `^(?:für|aus|in) (?:mein|ein|unser|sein|ihr|d)${W} (?:${W} )?(?:roman|geschichte|gedicht|aufsatz|theaterstück|drehbuch|krimi|buch|rolle|kurs|hausaufgabe${W})${E}`,
    `${B}(?:rollenspiel|ich spiele (?:jetzt|heute|hier) (?:einen|eine|den|die)|meine (?:figur|rolle)|nur ein test|wie sagt man|(?:meine )?nächste nachricht|der folgende text|beispielsatz)${E}`,
    `^(?:aus|von|vom|auf|in) (?:d${W}|ein${W}|mein${W}|ihr${W}|sein${W})? ?(?:${W} )?(?:prospekt|flyer|plakat|webseite|website|homepage|seite|zeitung|mail|brief|chat|anzeige|werbung|artikel|interview|bewertung|film|lied|buch)$|^ein${W} (?:${W} )?(?:gedicht|geschichte|biogra[fp]h?ie|rede|text|lied|brief|satz|spruch)${E}.{0,30}${B}bitte$|^(?:und |da )?(?:mein${W}|unser${W}|der|die) ${W} so$|^(?:und )?(?:er|sie) so$`,
    `^(?:jetzt |nun )?(?:auf|ins?) (?:englische?|deutsche?|französische?|spanische?|italienische?),? bitte$|^(?!(?:ich|wir)${E}).*${B}(?:schrieb|schickte|sagte|hinterließ|geschickt|geschrieben|gesagt)(?: (?:mir|uns))?(?: (?:das|dies|folgendes))?$`,
  ),
  // French
  ...forms(
    `^(?:et |alors |bon,? )*(?:voici|voilà|ceci|ci-dessous|ci-dessus|c['’]est|ce qui suit|extrait|citation)${E}(?!.{0,40}${B}(?:je|j|mon|ma|mes|nous|moi)${E}(?! ami)).{0,60}${B}(?:disai(?:t|ent)|dit|écri${W}|envoy${W}|dépliant|prospectus|brochure|message|mail|courriel|lettre|texte|page|site|affiche|avis|annonce|publicité|article|extrait|citation|phrase)${E}`,
    `${B}(?:copié${W}|collé${W}|copier-coller|transféré${W}|cité${W}|recopié${W}|mot (?:pour|à) mot|textuellement|je cite|citation|ce n['’]est pas (?:de )?moi|pas mes mots|c['’]était écrit|il était écrit|trouvé sur|(?:était|est) (?:le|la) suivante?)${E}`,
    `^(?:son|sa|ses|leurs?|(?:le|la|les) (?:message|mail|réponse|mot|mots|lettre|devise|avis|texte|phrase) de (?:mon|ma|mes|son|sa|ses|l|la|le))${E}(?!.{0,60}${B}(?:je|nous)${E}).{0,60}${B}(?:message|mail|réponse|mots?|lettre|devise|avis|texte|phrase|disait|était|est)${E}`,
    `^(?:s['’]il (?:te|vous) pla[iî]t,? )?(?:(?:peux-tu|pouvez-vous|pourrais-tu|pourriez-vous) (?:m['’])?)?(?:(?:é|e)cri[st]?(?:vez)?|écrire|rédige${W}|compose${W}|invente${W}|imagine${W}|corrige${W}|amélior${W}|reformul${W}|tradui${W}|continue${W}|termine${W}|fai(?:s|tes)|mets|mettez)(?:-(?:moi|nous))?${E}.{0,60}${B}(?:poème|histoire|conte|biographie|bio|roman|lettre|discours|texte|phrase|rédaction|critique|annonce|profil|chanson|scénario|journal|légende|en (?:anglais|allemand|français|espagnol|italien))${E}`,
    `^(?:tradui${W}|corrige${W})${E}`,
    `^(?:pour|dans|de) (?:mon|ma|mes|un|une|le|la|son|sa) (?:${W} )?(?:roman|histoire|nouvelle|poème|pièce|scénario|rédaction|livre|rôle|cours|devoirs?)${E}`,
    `${B}(?:jeu de rôle|jouons|je joue (?:un|une|le|la) ${W}|mon personnage|juste un test|comment dit-on|(?:mon )?prochain message|le texte suivant|phrase d['’]exemple)${E}`,
    `^(?:tiré|extrait|pris|repris|issu)${W} d|^(?:sur|dans|du|de la|des?) (?:le|la|leur|son|mon|un|une)? ?(?:${W} )?(?:site|page|affiche|dépliant|brochure|journal|article|mail|message|lettre|publicité|chanson|film|livre)$|^une? (?:${W} )?(?:poème|histoire|biographie|discours|texte|chanson|lettre|phrase)${E}.{0,30}${B}s['’]il (?:te|vous) pla[iî]t$|^(?:et )?(?:lui|elle|mon ${W}|ma ${W}) (?:il |elle )?(?:fait|genre)$`,
    `^en (?:anglais|allemand|français|espagnol|italien),? s['’]il (?:te|vous) pla[iî]t$|^(?!(?:je|j|nous)${E}).*${B}(?:laissé|envoyé|écrit|dit|noté)(?: (?:ça|cela|ceci|ce mot|ce message|ces mots))$`,
  ),
  // Spanish
  ...forms(
    `^(?:y |pues |bueno,? )*(?:esto|este|esta|eso|aquí|abajo|arriba|lo siguiente|lo que|he aquí)${E}(?!.{0,40}${B}(?:yo|mi|mis|nosotros)${E}(?! amig)).{0,60}${B}(?:ponía|pone|decía|dice|dijo|escribi${W}|mandó|envió|folleto|mensaje|correo|carta|texto|página|web|cartel|reseña|anuncio|artículo|frase|cita)${E}`,
    `${B}(?:copiad[oa]s?|copio|pegad[oa]s?|copia y pega|reenviad[oa]s?|reenvío|citad[oa]s?|textualmente|palabra por palabra|cito|en sus palabras|no (?:son|es) mí[oa]s?(?: palabras)?|estaba escrito|encontrado en|era (?:el|la|lo) siguiente)${E}`,
    `^(?:su|sus|(?:el|la|los|las) (?:mensaje|correo|respuesta|palabras|carta|lema|opinión|reseña|texto) de (?:mi|mis|su|sus|la|el|un|una))${E}(?!.{0,60}${B}(?:yo|me)${E}).{0,60}${B}(?:mensaje|correo|respuesta|palabras|carta|lema|opinión|reseña|texto|era|fue|decía|es)${E}`,
    `^(?:por favor,? )?(?:(?:puedes|podrías|puede|podría) )?(?:escr[ií]b${W}|redacta${W}|compon${W}|inventa${W}|imagina${W}|corrig${W}|corríge${W}|mejora${W}|reformula${W}|traduc${W}|tradúce${W}|continúa|termina|haz(?:me)?|pon(?:lo)?)${E}.{0,60}${B}(?:poema|historia|cuento|biografía|bio|novela|carta|discurso|texto|frase|redacción|crítica|reseña|anuncio|perfil|canción|guion|diario|al (?:inglés|alemán|francés|español|italiano))${E}`,
    `^(?:traduc|tradúce|corrig|corríge)${W}${E}`,
    `^(?:para|en|de) (?:mi|una?|la|el|su) (?:${W} )?(?:novela|historia|cuento|poema|obra|guion|redacción|libro|papel|clase|deberes)${E}`,
    `${B}(?:juego de rol|juguemos|hago de|mi personaje|solo una prueba|cómo se dice|(?:mi )?próximo mensaje|el (?:siguiente texto|texto siguiente)|frase de ejemplo)${E}`,
    `^(?:sacad|tomad|extraíd|cogid)[oa]s? de|^(?:de|del|en) (?:el|la|su|un|una|mi)? ?(?:${W} )?(?:web|página|cartel|folleto|periódico|artículo|correo|mensaje|carta|anuncio|canción|película|libro)$|^una? (?:${W} )?(?:poema|historia|biografía|discurso|texto|canción|carta|frase)${E}.{0,30}${B}por favor$|^(?:y )?(?:él|ella|mi ${W}) (?:va y dice|en plan)$`,
    `^(?:en|al) (?:inglés|alemán|francés|español|italiano),? por favor$|${B}(?:mandó|envió|escribió|dijo|dejó|mandado|enviado|escrito|dicho)(?: (?:esto|eso|lo siguiente|esta nota))$`,
  ),
  // Italian
  ...forms(
    `^(?:e |allora |beh,? )*(?:ecco|questo|questa|qui|sotto|sopra|quanto segue|quello che|ciò che|cosa)${E}(?!.{0,40}${B}(?:io|mio|mia|miei|noi)${E}(?! amic)).{0,60}${B}(?:c['’]era|diceva|dice|scri${W}|mand${W}|volantino|messaggio|mail|lettera|testo|pagina|sito|cartello|manifesto|recensione|annuncio|articolo|frase|citazione)${E}`,
    `${B}(?:copiat[oaie]|incollat[oaie]|copia e incolla|inoltrat[oaie]|citat[oaie]|cito|testualmente|parola per parola|parole sue|non (?:sono|è) (?:parole )?mi[ea]|c['’]era scritto|stava scritto|trovat[oa] su|era (?:il|la) seguente)${E}`,
    `^(?:(?:il|la|le) (?:suo|sua|sue|loro)|(?:il|la|le) (?:messaggio|mail|risposta|parole|lettera|motto|opinione|recensione|testo) (?:di|del|della|dei))${E}(?!.{0,60}${B}(?:io|mi)${E}).{0,60}${B}(?:messaggio|mail|risposta|parole|lettera|motto|opinione|recensione|testo|era|diceva|è)${E}`,
    `^(?:per favore,? )?(?:(?:puoi|potresti|può|potrebbe) )?(?:scriv${W}|componi|redigi|inventa${W}|immagina|corregg${W}|migliora${W}|riformula${W}|traduc${W}|continua|finisci|fa(?:i|mmi)|metti(?:lo)?)${E}.{0,60}${B}(?:poesia|storia|racconto|biografia|bio|romanzo|lettera|discorso|testo|frase|tema|critica|recensione|annuncio|profilo|canzone|copione|diario|in (?:inglese|tedesco|francese|spagnolo|italiano))${E}`,
    `^(?:traduc|corregg)${W}${E}`,
    `^(?:per|nel|nella|dal|dalla) (?:il |la )?(?:mio|mia|un|una|suo|sua)? ?(?:${W} )?(?:romanzo|storia|racconto|poesia|copione|tema|libro|ruolo|corso|compiti)${E}`,
    `${B}(?:gioco di ruolo|giochiamo a|interpreto (?:un|una|il|la)|il mio personaggio|solo una prova|come si dice|(?:mio )?prossimo messaggio|il (?:seguente testo|testo seguente)|frase di esempio)${E}`,
    `^(?:tratt|pres|estratt)[oaie] d|^(?:dal|dalla|sul|sulla|nel|nella|da) (?:suo|sua|loro|un|una)? ?(?:${W} )?(?:sito|pagina|cartello|manifesto|volantino|giornale|articolo|mail|messaggio|lettera|pubblicità|canzone|film|libro)$|^un['’a]? ?(?:${W} )?(?:poesia|storia|biografia|discorso|testo|canzone|lettera|frase)${E}.{0,30}${B}per favore$|^(?:e )?(?:lui|lei) (?:fa|tipo)$`,
    `^in (?:inglese|tedesco|francese|spagnolo|italiano),? per favore$|${B}(?:mandato|scritto|detto|lasciato|inviato)(?: (?:questo|ciò|quanto segue|questa nota))$`,
  ),
];
