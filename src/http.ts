export { type AppOptions, createApp, type HttpLimits, type IdentifiedUser, type Identify, type MaitredApp } from "./http/create-app.js";
