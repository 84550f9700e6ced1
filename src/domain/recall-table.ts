/** What tells when which memory matters: a domain's data. Lists of phrases are lines as `phrasesIn` reads them, by language. */

/** By ISO 639-1 code. */
type ByLanguage = Readonly<Record<string, readonly string[]>>;

/** What a message can be about: eating, travelling, paying. */
export interface Occasion {
  /** Words and phrases that name it, in messages and in memories; `restaurant*` stands for all that begins so. */
  readonly words: ByLanguage;
  /** Words that name it in messages alone. Default: none. */
  readonly asked?: ByLanguage;
  /** Phrases of messages that mean it and nothing else, whatever else is named. Default: none. */
  readonly decides?: ByLanguage;
  /** Sentences of guests that mean it, with or without its words: a message is compared with them by meaning. Default: none. */
  readonly anchors?: ByLanguage;
  /** It says how rather than what: paying, where to sit, when. What is for one thing is for no other, whatever the how. Default false. */
  readonly how?: boolean;
  /** It asks what somebody would like: what the user likes stands back where others come along. Default false. */
  readonly taste?: boolean;
  /** What it asks for, where no other occasion says it: "what's on" is to go to. Default: anything. */
  readonly asksFor?: readonly string[];
  /** Beside these occasions it counts for nothing. Default: none. */
  readonly unless?: readonly string[];
  /** Occasions that it is always one of as well. Default: none. */
  readonly implies?: readonly string[];
}

export interface PartyWords {
  /** Words for one relation, a row each; a word may stand in several. */
  readonly relations: readonly (readonly string[])[];
  /** Words for all children. */
  readonly children: ByLanguage;
  /** Of the relations, those of a child: what is said of the children is said of them. */
  readonly child: readonly string[];
  /** Words for the whole family. */
  readonly groups: readonly string[];
  /** Relations whom those don't mean. */
  readonly not_family: readonly string[];
  /** What stands before a relation that is spoken of: "my", "a". */
  readonly possessives: readonly string[];
  /** Of the relations, words that may mean others, or something else: they send nobody away but behind a possessive. Default: none. */
  readonly loose?: readonly string[];
  /** What stands between a thing and the name of whose it is: "de". Default: nothing does. */
  readonly of?: readonly string[];
  /** What stands behind a name of one letter where words aren't spaced, and tells it from a part of a word. Default: nothing does. */
  readonly particles?: readonly string[];
  /** Somebody comes along who isn't named: "we", "both of us". */
  readonly together: ByLanguage;
  /** Nobody comes along: "just me", "by myself". */
  readonly alone: ByLanguage;
}

export interface RecallTable {
  /** By name, as the categories' {@link CategoryOccasions} have them. */
  readonly occasions: Readonly<Record<string, Occasion>>;
  /**
   * What no memory has a part in: the weather, arithmetic, jokes. Messages about it are given nothing. What stands within one of `asked`
   * names no occasion: "euros in pounds".
   */
  readonly elsewhere: Occasion;
  /** What makes the words behind it no more than a time: "after the concert". */
  readonly setting: ByLanguage;
  /** What stands before the name of a place: "in Vienna". */
  readonly places: ByLanguage;
  /** What tells how somebody stands to a thing, and how often: "never takes". It says nothing of what a memory is about. Default: none. */
  readonly attitudes?: ByLanguage;
  /** Words for several days of the week, and those that a platform's own tables don't find: 0 is Monday. Default: none. */
  readonly days?: readonly { readonly days: readonly number[]; readonly words: ByLanguage }[];
  /**
   * Messages that consist of these alone are given nothing: greetings, thanks. `beside`: what may stand between them; `answers`: what a
   * message with is an answer instead ("the second", "without"); `anchors`: idle messages, with which short ones are compared by meaning.
   * Default of both: none.
   */
  readonly idle: {
    readonly words: ByLanguage;
    readonly beside: ByLanguage;
    readonly answers?: ByLanguage;
    readonly anchors?: ByLanguage;
  };
  readonly party: PartyWords;
}

/** When the statements of a category matter. */
export interface CategoryOccasions {
  /** At these. Default: none. */
  readonly at?: readonly string[] | undefined;
  /** At these as well, where a statement must hold: an allergy matters wherever one stays, a favourite dish does not. Default: none. */
  readonly hard?: readonly string[] | undefined;
  /** At those of these that a statement's own words name, and then at no other that says what rather than how. Default: none. */
  readonly named?: readonly string[] | undefined;
  /** Only those that are most like the message, where they name none of these. Default: none. */
  readonly alike?: readonly string[] | undefined;
  /** What names a place matters to messages that name it too, or name none where it is the user's own. Default false. */
  readonly placed?: boolean | undefined;
  /** The aspect that says where the user lives: what names no place is about there. Default: none does. */
  readonly residence?: string | undefined;
}
