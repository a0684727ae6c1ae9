/** Which release a step's request is in, where the suite still pins a prerelease of it. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { currentPin } from "../../runtime/conformance/pins.js";

const agent = (...supported_versions: string[]) => ({ capabilities: { proto: { supported_versions } } });

const asked = (pin: unknown, version: string, ...listed: string[]): unknown =>
  currentPin({ proto_version: pin, brief: "b" }, agent(...listed), { word: "proto", version }).proto_version;

test("an older prerelease that the agent does not list is said as the release under test", () => {
  assert.is(asked("3.1-beta.5", "3.1.19", "3.0", "3.1"), "3.1");
  assert.is(asked("3.1-beta.5", "3.2.0-beta.4", "3.2-beta.4"), "3.2-beta.4");
  assert.is(asked("3.2.0-beta.3", "3.2.0-beta.4", "3.2-beta.4"), "3.2-beta.4");
});

test("what the agent lists, what is not older, and what is no prerelease is said as it stands", () => {
  assert.is(asked("3.2-beta.3", "3.2.0-beta.4", "3.2-beta.3", "3.2-beta.4"), "3.2-beta.3");
  assert.is(asked("3.2-beta.9", "3.2.0-beta.4", "3.2-beta.4"), "3.2-beta.9");
  assert.is(asked("99.0", "3.1.19", "3.1"), "99.0");
  assert.is(asked("3.0", "3.1.19", "3.1"), "3.0");
  assert.is(asked(undefined, "3.1.19", "3.1"), undefined);
});

test("an agent that does not list the release is asked as the suite says", () => {
  assert.is(asked("3.1-beta.5", "3.1.19", "3.0"), "3.1-beta.5");
});

test.run();
