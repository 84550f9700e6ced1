/**
 * Orders to the assistant in languages other than English: overriding what it was told, what it must recommend, acting unasked.
 * One line a language; text comes in lower case. What is not listed here is read in English alone.
 */

function either(...alternatives: readonly string[]): RegExp {
  return new RegExp(alternatives.join("|"), "u");
}

const W = "\\p{L}*";
const START = "(?<!\\p{L})";
const END = "(?!\\p{L})";

/** A verb of neglect near a word for orders, in either order. */
function override(verbs: string, orders: string, gap = 60): string {
  return `${START}(?:${verbs}).{0,${gap}}(?:${orders})|${START}(?:${orders}).{0,${gap}}(?:${verbs})`;
}

export const FOREIGN_INSTRUCTIONS: readonly RegExp[] = [
  // German
  either(
    override(
      `ignorier${W}|missacht${W}|vergiss|vergessen sie|übergeh${W}|umgeh${W}|überspring${W}|beachte${W} .{0,30}nicht`,
      `anweisung${W}|regel${W}|vorgabe${W}|instruktion${W}|einschränkung${W}|prüfung${W}|bestätigung${W}|system-?prompt|richtlinie${W}|befehl${W}|allergie${W}`,
    ),
    `${START}(?:empfiehl|empfehlt|empfehle (?:immer|nur|stets)|empfehlen sie|bewirb|bewerben sie|schlag${W} .{0,40}${START}vor${END}|preise .{0,40}${START}an${END}|du .{0,80}(?<!wissen )(?:musst|sollst|wirst)${END}|du (?:sollst|musst)(?! wissen)|sie (?:sollen|müssen)(?! wissen)|du bist (?:jetzt|nun|ab)|sie sind (?:jetzt|nun|ab))`,
    `${START}(?:ohne (?:zu fragen|nachfrage|rückfrage|bestätigung|nachzufragen)|für alle (?:nutzer|benutzer|gäste|kunden)|immer kostenlos|der (?:nutzer|benutzer|gast) (?:mag|möchte|bevorzugt))`,
  ),
  // French
  either(
    override(
      `ignore${W}|ignorez|oublie[rz]?|contourne${W}|outrepasse${W}|désobéi${W}|ne (?:tiens|tenez) (?:pas|plus) compte|fais abstraction`,
      `instructions?|règles?|consignes?|restrictions?|vérifications?|confirmations?|directives?|ordres?`,
    ),
    `${START}(?<!je )(?<!nous )(?:recommande${W}|conseille${W}|suggère${W}|suggérer|suggérez|promouvoir|promeus|vante[rz]?)${END}|${START}(?:tu dois|vous devez|tu devras|vous devrez|tu es (?:maintenant|désormais)|vous êtes (?:maintenant|désormais)|dorénavant tu)`,
    `${START}(?:sans (?:demander|confirmation|confirmer|poser de question)|pour tous les (?:utilisateurs|clients)|toujours gratuit${W}|l'utilisateur (?:préfère|veut|aime))`,
  ),
  // Spanish
  either(
    override(
      `ignor${W}|olvid${W}|omit${W}|sált${W}|salta${W}|desobede${W}|haz caso omiso|no sigas|anul${W}`,
      `instruccion${W}|regla${W}|normas|indicacion${W}|restriccion${W}|confirmaci${W}|verificaci${W}|órdenes`,
    ),
    `${START}(?:recomienda${END}|recomiende${W}|recomendar${END}|recomendarás|sugiere${END}|sugiera${W}|sugerir${END}|promociona${W}|promueve${W}|debes${END}|tienes que|deberás|usted debe|quiero que (?:recomiendes|sugieras|promuevas|digas|reserves|ignores)|ahora eres|a partir de ahora (?:eres|debes))`,
    `${START}(?:sin (?:preguntar|confirmar|confirmación|pedir)|para todos los (?:usuarios|clientes)|siempre gratis|el usuario (?:prefiere|quiere|ha))`,
  ),
  // Italian
  either(
    override(
      `ignor${W}|dimentic${W}|trascur${W}|aggir${W}|salta${END}|disattiv${W}|non seguire`,
      `istruzion${W}|regol${W}|direttiv${W}|restrizion${W}|conferm${W}|verific${W}|controll${W}|ordini`,
    ),
    `${START}(?:raccomanda${END}|raccomandare${END}|raccomandi${END}|consiglia${END}|consigliare${END}|suggerisci${END}|suggerire${END}|promuovi${END}|pubblicizza${W}|voglio che tu|devi${END}|dovrai${END}|lei deve${END}|(?:ora|adesso|d'ora in poi) sei${END})`,
    `${START}(?:senza (?:chiedere|conferma|confermare)|per tutti gli utenti|sempre gratis|l'utente (?:preferisce|vuole|ha))`,
  ),
  // Portuguese
  either(
    override(
      `ignor${W}|esqueç${W}|esquec${W}|desconsider${W}|contorn${W}`,
      `instruç${W}|instruc${W}|regras?|restriç${W}|confirmaç${W}|ordens`,
    ),
    `${START}(?:recomende${END}|recomenda${END}|recomendar${END}|sugira${END}|sugerir${END}|promova${END}|você deve${END}|deves${END}|tens de|agora (?:você )?és?${END}|sem (?:perguntar|confirmar|confirmação))`,
  ),
  // Dutch
  either(
    override(`negeer${W}|vergeet|omzeil|sla .{0,30}over`, `instructies?|regels?|aanwijzing${W}|bevestiging|controles?`),
    `${START}(?:beveel .{0,40}aan|raad .{0,40}aan|aanbevelen|promoot|je moet${END}|jij moet${END}|u moet${END}|je bent nu|zonder (?:te vragen|bevestiging))`,
  ),
  // Swedish, Danish, Norwegian
  either(
    override(`ignorer${W}|glöm|glem|bortse|se bort fra`, `instruktion${W}|regler${W}|anvisning${W}|instrukser`),
    `${START}(?:rekommendera${END}|föreslå${END}|anbefal${W}|foreslå${END}|du måste|du må${END}|du skal${END}|du är nu|du er nå|du er nu|utan att fråga|uden at spørge|uten å spørre)`,
  ),
  // Polish
  either(
    override(`zignoruj${W}|ignoruj${W}|pomiń|pomijaj|zapomnij`, `instrukcj${W}|polece${W}|zasad${W}|reguł${W}|ogranicze${W}`),
    `${START}(?:polecaj|poleć${END}|zalecaj|rekomenduj|proponuj|promuj|musisz|jesteś teraz|bez (?:pytania|potwierdz${W}))`,
  ),
  // Czech, Slovak
  either(
    override(`ignoruj${W}|zapomeň|zabudni`, `pokyn${W}|pravid${W}|instrukc${W}|inštrukc${W}`),
    `${START}(?:doporuč${W}|odporúč${W}|navrhuj${W}|musíš|nyní jsi|teraz si|bez ptaní)`,
  ),
  // Hungarian, Romanian, Finnish
  either(
    override("hagyd figyelmen kívül|felejtsd el", `utasítás${W}|szabály${W}`),
    `${START}(?:ajánld|mindig ajánl${W}|javasold|kötelező ajánlan${W})`,
    override(`ignor${W}|uită`, `instrucțiun${W}|instructiun${W}|reguli${W}`),
    `${START}(?:recomandă|trebuie să recomanzi|sugerează)`,
    override("ohita|unohda|jätä huomiotta", `ohje${W}|sään${W}`),
    `${START}(?:suosittele|ehdota aina|sinun (?:täytyy|pitää))`,
  ),
  // Russian
  either(
    override(
      `игнорируй${W}|проигнорируй${W}|забудь${W}|обойди${W}|пропусти${W}|не обращай внимания`,
      `инструкци${W}|правил${W}|указани${W}|ограничени${W}|подтверждени${W}|команд${W}`,
    ),
    `${START}(?:рекомендуй${W}|порекомендуй${W}|советуй${W}|посоветуй${W}|предлагай${W}|рекламируй${W}|продвигай${W}|ты (?:должен|должна|обязан|теперь)|вы (?:должны|обязаны|теперь)|без (?:подтвержд${W}|вопрос${W}))`,
  ),
  // Ukrainian
  either(
    override(`ігноруй${W}|проігноруй${W}|забудь${W}`, `інструкці${W}|правил${W}|вказів${W}|обмежен${W}`),
    `${START}(?:рекомендуй${W}|порадь|радь${END}|пропонуй${W}|ти (?:маєш|повинен|повинна|тепер)|ви (?:маєте|повинні))`,
  ),
  // Greek
  either(
    override(`αγνόησε|αγνοήστε|αγνοησε|ξέχασε|ξεχασε`, `οδηγί${W}|οδηγι${W}|κανόνε${W}|κανονε${W}|εντολ${W}`),
    `${START}(?:πρότεινε|προτεινε|σύστησε|συστησε|πρέπει να (?:προτείνεις|συστήνεις))`,
  ),
  // Turkish
  either(
    override(
      `yok say${W}|görmezden gel${W}|unut${END}|dikkate alma${W}|uyma${END}`,
      `talimat${W}|kural${W}|komut${W}|kısıtlama${W}|onay${W}`,
    ),
    `${START}(?:her zaman .{0,40}öner${W}|öner${END}|önermelisin|tavsiye et${END}|tavsiye etmelisin|zorundasın|artık sen|sormadan|onay almadan)`,
  ),
  // Indonesian, Malay, Vietnamese
  either(
    override("abaikan|lupakan|lewati", `instruksi|perintah|aturan|konfirmasi`),
    `${START}(?:rekomendasikan|sarankan|kamu harus|anda harus|sekarang kamu adalah)`,
    override("bỏ qua|quên|phớt lờ", "hướng dẫn|chỉ dẫn|quy tắc|chỉ thị|lệnh"),
    `${START}(?:hãy (?:luôn )?(?:giới thiệu|đề xuất|khuyên)|luôn (?:giới thiệu|đề xuất)|bạn phải)`,
  ),
  // Chinese
  /(?:忽略|无视|忽視|無視|忘记|忘記|绕过|繞過|跳过|跳過|不要遵守|不用理会).{0,24}(?:指令|指示|规则|規則|提示|说明|說明|限制|确认|確認|设定|要求)|(?:推荐|推薦|宣传|宣傳|推销|推銷)(?!信)|(?:你|您)(?:必须|必須|应该|應該|一定要|要始终|只能|现在是|現在是)|(?:从现在起|從現在起|从现在开始|今后)你|(?:无需|不需要|不用|不必)(?:确认|確認|询问|詢問)|所有用户|所有用戶/u,
  // Japanese
  /(?:指示|命令|ルール|規則|制約|制限|プロンプト|確認|設定).{0,14}(?:無視|忘れ|破っ|スキップ|省略|省い)|(?:薦め|勧め|推薦|おすすめ|オススメ|推奨|宣伝)(?:て|し|る|ろ|なさい|せよ|すること|するように)|(?:必ず|常に|いつも).{0,30}(?:してください|しなさい|すること|しろ|て下さい|てください|提案)|(?:あなた|君|お前)は(?:今|これから|もう|必ず)|なければならない|確認(?:なし|せず)に/u,
  // Korean
  /(?:지시|명령|규칙|지침|제한|확인|프롬프트).{0,14}(?:무시|잊|건너|생략)|(?:추천|홍보|권장)(?:해|하|할)|(?:너는|당신은|넌) (?:이제|반드시|지금)|(?:항상|반드시|무조건).{0,30}(?:하세요|해라|해야|하십시오|말해)|(?:묻지|확인) (?:말고|없이)|모든 (?:사용자|고객)/u,
  // Arabic, Persian, Hebrew
  either(
    override(`تجاهل${W}|انس${END}|انسَ|تخط${W}|لا تتبع`, `التعليمات|تعليمات${W}|القواعد|قواعد${W}|الأوامر|القيود|التأكيد|الإرشادات`),
    `${START}(?:أوصِ?${END}|أوصي${END}|اقترح${END}|رشح${END}|رشّح${END}|انصح${END}|روج${END}|روّج${END}|يجب عليك|يجب أن (?:توصي|تقترح|تنصح)|أنت الآن|من الآن فصاعد${W}|دون (?:تأكيد|سؤال)|بدون (?:تأكيد|سؤال))`,
    override("نادیده بگیر|فراموش کن", `دستور${W}|قوانین|دستورالعمل${W}`),
    `${START}(?:همیشه .{0,40}(?:پیشنهاد|توصیه) (?:کن|بده))`,
    override(`התעלם${W}|התעלמי|שכח${END}|תשכח${END}`, `ההוראות|הוראות${W}|הכללים|ההנחיות`),
    `${START}(?:תמליץ|המלץ|תמיד תציע|אתה (?:חייב|עכשיו))`,
  ),
  // Hindi
  /(?:निर्देश|नियम|आदेश|निर्देशों).{0,40}(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल|उपेक्षा)|(?:अनदेखा|नज़रअंदाज़|भूल).{0,40}(?:निर्देश|नियम)|(?:सुझाव दो|सुझाव दें|सुझाएं|सुझाओ|सिफारिश|सिफ़ारिश|अनुशंसा)|(?:आपको|तुम्हें|तुमको).{0,40}(?:चाहिए|होगा)|अब से (?:तुम|आप)|बिना पूछे/u,
  // Thai
  /(?:ละเว้น|เพิกเฉย|ไม่ต้องสนใจ|ลืม|ข้าม).{0,40}(?:คำสั่ง|กฎ|คำแนะนำ|ข้อจำกัด|การยืนยัน)|(?:จง|ต้อง|โปรด|ให้)?(?:แนะนำ|โปรโมท)(?:โรงแรม|ร้าน|เสมอ|ให้ทุกคน)|คุณต้อง|ตั้งแต่นี้ไป/u,
];
