import { describeLongTermContract } from "../contract/long-term.contract.js";
import { InMemoryLongTerm } from "../support/in-memory-long-term.js";

describeLongTermContract("The fake of other tests", async (clock) => ({ memory: new InMemoryLongTerm(clock), close: async () => {} }));
