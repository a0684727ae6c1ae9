// Of `adbind explorer serve` alone: the page is read again when a release has changed.
new EventSource("/changes").addEventListener("message", () => location.reload());
