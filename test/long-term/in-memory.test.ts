import { longTermContract } from "../../src/testing/long-term-contract.js";
import { InMemoryLongTerm } from "../support/in-memory-long-term.js";

longTermContract("The fake of other tests", async (clock) => ({ memory: new InMemoryLongTerm(clock), close: async () => {} }));
