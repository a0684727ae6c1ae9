/** What a URL has in place of an operation's ids. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { endpointOf, operationUrl, ownSegment, patternOf } from "../../runtime/sender/endpoint-names.js";

const operation = "op 1:a";

test("an id is named where it is a whole segment or a whole value of the query, and nowhere else", () => {
  const named = (url: string): string => patternOf(url, operation);
  assert.is(named("https://b.example/h/op%201:a"), "https://b.example/h/{operation_id}");
  assert.is(
    named("https://b.example/op+1%3Aa/x?y=op%201:a&z=op+1:a#f"),
    "https://b.example/{operation_id}/x?y={operation_id}&z={operation_id}",
  );
  for (const url of [
    "https://b.example/h/op:12",
    "https://b.example/?op:1",
    "https://b.example/%",
    "https://op.example",
  ])
    assert.is(named(url), url);
  assert.is(patternOf("https://b.example/h/", ""), "https://b.example/h/");
});

test("an endpoint without any id in its URL keeps the name it had", () => {
  const url = "https://b.example/h?x=1";
  assert.is(endpointOf({ principal: "p", url, operation }), endpointOf({ principal: "p", url }));
  const [one, two] = ["1", "2"].map((id) =>
    endpointOf({ principal: "p", url: `https://b.example/${id}`, operation: id }),
  );
  assert.is(one, two);
  assert.is.not(one, endpointOf({ principal: "q", url: "https://b.example/1", operation: "1" }));
});

test("a URL with a place for an id is one operation's with them, and none without", () => {
  assert.is(
    operationUrl("https://b.example/{operation_id}?t={operation_id}", "a 1"),
    "https://b.example/a%201?t=a%201",
  );
  assert.is(operationUrl("https://b.example/{other}", undefined), "https://b.example/{other}");
  assert.throws(
    () => operationUrl("https://b.example/{operation_id}", undefined),
    (fault: { code: string }) => fault.code === "registration_invalid",
  );
});

test("a last segment is an operation's own where it has a digit", () => {
  const found = ["a/op_1", "a/op_1/", "a/webhook", "a/b%20c1", ""].map((path) =>
    ownSegment(`https://b.example/${path}`),
  );
  assert.equal(found, ["op_1", undefined, undefined, undefined, undefined]);
});

test.run();
