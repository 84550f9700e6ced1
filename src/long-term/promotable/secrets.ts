/** What must never become a memory, whatever it is said for: credentials, payment and identity numbers, one-time codes. */

const TOKENS = [
  /\b(?:sk|pk|rk|ghp|gho|ghs|xox[abprs]|glpat|npm|hf|AKIA|ASIA|AIza|ya29)[-_]?[A-Za-z0-9_-]{12,}/,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}/,
  /-----BEGIN [A-Z ]*(?:KEY|CERTIFICATE)/,
  /\bbearer\s+[A-Za-z0-9._~+/-]{12,}/i,
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]+:[^\s/@]+@/i,
  /\b\d{3}-\d{2}-\d{4}\b/,
];

/** A word for a secret, then the secret: a value after "is" or a colon, or anything with a digit in it. */
const NAMED =
  /(?<!\p{L})(?:pass ?word|pass ?phrase|pass ?code|passwort|kennwort|mot de passe|contraseña|password|clave secreta|wachtwoord|hasło|пароль|şifre|密码|密碼|パスワード|비밀번호|pin(?: ?code| number)?|puk|otp|one[- ]time (?:code|password|pin)|(?:verification|security|access|auth(?:entication|orisation|orization)?|confirmation|login|2fa|sms|activation|recovery|backup) codes?|tan|cvv2?|cvc2?|api[ _-]?key|secret(?: key)?|private key|access token|seed phrase|geheimzahl|sicherheitscode|bestätigungscode|code (?:de )?(?:vérification|secret|sécurité)|código (?:de )?(?:verificación|seguridad)|codice (?:di )?(?:verifica|sicurezza))(?!\p{L})(?:[^.!?\n]{0,20}?(?:\b(?:is|are|was|lautet|ist|est|es|è|to)\b|[:=])\s*\S+|[^.!?\n]{0,30}?\d)/iu;
/** The value first: "9031 is my PIN". Or words that stand for one, or a code of whatever kind, with its digits. */
const NAMED_AFTER =
  /(?<!\p{L})(?:as|is|that's|that’s|it's|it’s|for) (?:also |always )?(?:my|our|the|mein\p{L}*|mon|mi|la mia) (?:[\p{L}-]+ ){0,2}(?:pass ?words?|pass ?codes?|pass ?phrase|pin(?: ?code| number)?|passwort|kennwort|mot de passe|contraseña|cvv2?|login)(?!\p{L})|(?<!\p{L})(?:(?:wallet|seed|recovery|mnemonic|backup) (?:words?|phrases?)|security (?:question|answer)s?|sicherheitsfrage|question secrète|pregunta de seguridad|domanda di sicurezza)(?!\p{L})|(?<!\p{L})(?<!(?:post|postal|zip|area|country|dress|discount|colou?r)[ -]?)codes?(?!\p{L})[^.!?,;\n]{0,30}?\d[\d -]{2,}/iu;
/** Eight digits or more, spelled out. */
const SPELLED_DIGITS =
  /(?:(?<!\p{L})(?:(?:double |triple )?(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)|null|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zéro|un|deux|trois|quatre|cinq|sept|huit|neuf|cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|due|tre|quattro|cinque|sei|sette|otto|nove)(?!\p{L})[\s,-]*){8,}/iu;
const IDENTITY =
  /(?<!\p{L})(?:passports?|reisepass|passeport|pasaporte|passaporto|personalausweis|ausweis|identity card|id card|id number|carte d'identité|dni|nie|carta d'identità|codice fiscale|driv(?:er'?s?|ing) licen[cs]e|führerschein|permis|social security|ssn|national insurance|ni number|nhs number|tax (?:id|number)|steuer(?:nummer|-?id)|visa number|account number|kontonummer|numéro de compte|número de cuenta|numero di conto|sort code|routing number|card number|kartennummer|numéro de carte|número de tarjeta|numero (?:della |di )?carta|credit card|debit card|kreditkarte)(?!\p{L})[^.!?\n]{0,40}?[a-z]{0,3}\d[\da-z -]{3,}/iu;
const CARD = /(?<![\d+])(?:\d[ .-]?){12,18}\d(?!\d)/g;
const IBAN = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}\b/gi;
const OPAQUE = /\b(?=[A-Za-z0-9_-]*[a-z])(?=[A-Za-z0-9_-]*[A-Z])(?=[A-Za-z0-9_-]*\d)[A-Za-z0-9_-]{20,}\b/;

export function holdsSecret(text: string): boolean {
  const plain = text.normalize("NFKC").replace(/\p{Cf}/gu, "");
  if (NAMED.test(plain) || NAMED_AFTER.test(plain) || SPELLED_DIGITS.test(plain)) return true;
  if (IDENTITY.test(plain) || OPAQUE.test(plain) || TOKENS.some((token) => token.test(plain))) return true;
  for (const [digits] of plain.matchAll(CARD)) if (passesLuhn(digits.replace(/\D/g, ""))) return true;
  for (const [account] of plain.matchAll(IBAN)) if (isIban(account.replace(/ /g, "").toUpperCase())) return true;
  return false;
}

/** ISO/IEC 7812-1, annex B. */
function passesLuhn(digits: string): boolean {
  if (/^(\d)\1*$/.test(digits)) return false;
  let sum = 0;
  [...digits].reverse().forEach((digit, i) => {
    const doubled = Number(digit) * (i % 2 === 1 ? 2 : 1);
    sum += doubled > 9 ? doubled - 9 : doubled;
  });
  return sum % 10 === 0;
}

/** ISO 13616: the rearranged number, letters as 10 to 35, leaves 1 when divided by 97. A longer match may hold one at its start. */
function isIban(account: string): boolean {
  for (let length = Math.min(34, account.length); length >= 15; length--) {
    const candidate = account.slice(0, length);
    const digits = (candidate.slice(4) + candidate.slice(0, 4)).replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
    let rest = 0;
    for (const digit of digits) rest = (rest * 10 + Number(digit)) % 97;
    if (rest === 1) return true;
  }
  return false;
}
