import { describe, expect, test } from "vitest";
import { holdsSecret, secretsIn, withoutSecrets } from "../../src/domain/secrets.js";

describe("[poison-refused] what looks like a secret and is none", () => {
  test.each([
    "We need 2 PWD seats, my mother uses a wheelchair",
    "The PWD entrance is where my mother goes in",
    "Our budget is 400 pw",
    "400 pw for two is 800 in all",
    "My PWD seats are B12 and B13",
    "My tan is fading, 300 days of rain",
    "My tan is 3 shades darker",
    "Do I need an api key to book for 12?",
    "The flat is 1200 pw, the hotel 900 pw",
    "BA42 to Madrid on Friday",
    "We land with LH44 from Munich, then the opera",
    "Our reference is DE44 and we are seven",
    "Do I need my passport to enter the venue?",
    "My passport is still valid",
    "Mein Reisepass ist abgelaufen",
    "Mon passeport est périmé",
    "Mi pasaporte es nuevo",
    "O meu passaporte é azul",
    "We have our passports, there are 120 of us",
    "We all have a passport, there are 120 of us",
    "Pin my booking to the top",
    "We pin our hopes on row 5",
    "My PIN is on the card",
    "Un sitio tan bonito es difícil",
    "Es tan grande, 300 personas caben",
    "The verification code is in my mail",
    "The card number is on the back",
    "I need a password to log in, and a wheelchair space",
    "I've forgotten my password, 2 of us are vegan",
    "I lost my password, sorry, we are vegan",
    "Ho dimenticato la password e siamo vegani",
    "Ich brauche das Passwort, es geht nicht",
    "J'ai perdu le mot de passe et nous sommes végétariens",
    "No password, no problem",
    "La parola è bella",
    "パスワードは必要ですか",
    "Call +44 20 7946 0958",
  ])("%s", (text) => {
    expect(holdsSecret(text)).toBe(false);
    expect(withoutSecrets(text)).toBe(text);
  });

  test.each([
    "Here's my password, it's hunter2",
    "Here's my password, it's hunter",
    "here is my password, it is hunter2",
    "my PIN, it's 4821",
    "My recovery code is ABCD-EFGH",
    "my account is IT60 X 05428 11101 000000123456",
    "NL91ABNA 0417 1643 00",
  ])("a secret behind a comma, in capitals or in a country's own groups: %s", (text) => {
    expect(holdsSecret(text)).toBe(true);
  });

  test("a flight's number and what is said behind it, whatever the airline", () => {
    const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
    const numbers = ["07", "42", "63", "98"];
    const flights = letters.flatMap((a) => letters.flatMap((b) => numbers.map((number) => `${a}${b}${number}`)));
    expect(flights.map((flight) => `${flight} to Madrid on Friday and then a taxi`).filter(holdsSecret)).toEqual([]);
  });
});

describe("[poison-refused] a secret", () => {
  test.each([
    ["my password is hunter two", "hunter two"],
    ["my password is hunter2, no nuts please", "hunter2"],
    ["My password, btw, is hunter", "hunter"],
    ["The password for Netflix is sunflower", "sunflower"],
    ["I changed my password to hunter two", "hunter two"],
    ["password: the quick brown fox", "quick brown fox"],
    ["Our wifi password, hunter22, is on the card", "hunter22"],
    ["login is gaz_h pw Bananaboat77", "Bananaboat77"],
    ["pw is sunflower", "sunflower"],
    ["PWD: sunflower22", "sunflower22"],
    ["pwd=letmein", "letmein"],
    ["Mein Passwort lautet Sonnenschein", "Sonnenschein"],
    ["Das WLAN-Passwort ist Regenbogen", "Regenbogen"],
    ["Mon mot de passe est tournesol", "tournesol"],
    ["mot de passe : azerty", "azerty"],
    ["La contraseña es girasol", "girasol"],
    ["A senha é girassol", "girassol"],
    ["La mia password è girasole", "girasole"],
    ["La password e' girasole", "girasole"],
    ["Mijn wachtwoord is zonnebloem", "zonnebloem"],
    ["Mitt lösenord är solros", "solros"],
    ["Min adgangskode er solsikke", "solsikke"],
    ["Moje hasło to słonecznik", "słonecznik"],
    ["пароль: подсолнух", "подсолнух"],
    ["şifre: ayçiçeği", "ayçiçeği"],
    ["密码：芝麻开门", "芝麻开门"],
    ["パスワードは1234です", "1234"],
    ["My PIN is 9031", "9031"],
    ["9031 is my PIN", "9031"],
    ["My PIN, btw, is 9031", "9031"],
    ["The pin for the door 4711", "4711"],
    ["Die TAN ist 482913", "482913"],
    ["My passport number is X1234567", "X1234567"],
    ["Mi pasaporte es AB123456", "AB123456"],
    ["recovery code: ABCD-EFGH", "ABCD-EFGH"],
    ["The api key = abcdefgh", "abcdefgh"],
    ["IBAN DE89 3704 0044 0532 0130 00 please", "3704 0044 0532 0130 00"],
    ["DE89 370400440532013000 please", "370400440532013000"],
    ["pay to gb29nwbk60161331926819", "60161331926819"],
    ["FR14 2004 1010 0505 0001 3M02 606", "0505 0001 3M02 606"],
    ["NO93 8601 1117 947 or by card", "8601 1117 947"],
    ["My card is 4111 1111 1111 1111", "4111 1111"],
    ["my pw for Netflix is hunter2", "hunter2"],
    ["mein pw für netflix ist hunter2", "hunter2"],
    ["meine tan ist 482913", "482913"],
    ["tan: 482913", "482913"],
    ["My api key is abcdefgh", "abcdefgh"],
    ["our access token is qwertzuiop", "qwertzuiop"],
  ])("%s", (text, value) => {
    expect(holdsSecret(text)).toBe(true);
    expect(withoutSecrets(text)).not.toContain(value);
  });
});

describe("[poison-refused] a secret of several words", () => {
  test.each([
    ["my passphrase is correct horse battery staple", ["correct horse battery staple"]],
    ["my password is swordfish and I'm allergic to nuts", ["swordfish"]],
    ["Mein Passwort ist Sonnenblume und ich bin Veganer", ["Sonnenblume"]],
    ["my password is salt and pepper, thanks", ["salt and pepper"]],
    ["my PIN is 4711 and I'm vegan", ["4711"]],
    ["Mein Passwort ist Sonnenblume und unsere Tochter ist allergisch gegen Nüsse", ["Sonnenblume"]],
    ["mon mot de passe est tournesol et notre fille est allergique aux noix", ["tournesol"]],
    ["my password is sunflower because I am coeliac", ["sunflower"]],
    ["my password is sunflower - I'm allergic to nuts", ["sunflower"]],
  ])("is whole, up to another clause of the guest's: %s", (text, secrets) => {
    expect(secretsIn(text).map(({ start, end }) => text.slice(start, end))).toEqual(secrets);
    for (const secret of secrets) expect(withoutSecrets(text)).not.toContain(secret);
  });

  // By a quadratic look it would take minutes.
  test.each(["my password is a password is b ", "my password is x and I "])(
    "many of them cost no more than their text is long: %s",
    (text) => {
      expect(secretsIn(text.repeat(10_000)).length).toBeGreaterThan(9_999);
      expect(withoutSecrets(text.repeat(10_000))).not.toContain("password");
    },
  );
});
