/** A body that comes in pieces, as somebody else cuts them: a byte at a time, each would cost a hundred times what it brings. */

/** A piece that is smaller is always copied, in bytes: what stands around it in memory is larger. */
const KEPT_BYTES = 1_024;
/** Into blocks of so many bytes, smaller where not much has come yet. */
const BLOCK_BYTES = 65_536;
const FIRST_BLOCK_BYTES = 256;

/** Bytes as they come in. Held, they take about as much memory as there are of them, whatever the pieces. */
export class Pieces {
  /** Full ones, in their order. */
  readonly #whole: Uint8Array[] = [];
  /** Of small pieces; no other comes behind it before it is full. */
  #block = new Uint8Array(0);
  #used = 0;
  #size = 0;

  /** Bytes that have come. */
  get size(): number {
    return this.#size;
  }

  add(piece: Uint8Array): void {
    const begun = Math.min(piece.byteLength, this.#block.byteLength - this.#used);
    this.#copy(piece.subarray(0, begun));
    const rest = piece.subarray(begun);
    if (rest.byteLength === 0) return;
    if (rest.byteLength >= KEPT_BYTES && rest.byteLength * 2 >= rest.buffer.byteLength) {
      this.#whole.push(rest);
      this.#size += rest.byteLength;
      return;
    }
    const block = Math.min(BLOCK_BYTES, Math.max(FIRST_BLOCK_BYTES, this.#size));
    this.#block = new Uint8Array(Math.max(block, rest.byteLength));
    this.#used = 0;
    this.#copy(rest);
  }

  #copy(bytes: Uint8Array): void {
    if (bytes.byteLength === 0) return;
    this.#block.set(bytes, this.#used);
    this.#used += bytes.byteLength;
    this.#size += bytes.byteLength;
    if (this.#used === this.#block.byteLength) this.#whole.push(this.#block);
  }

  /** All that has come, in one piece that is nobody else's. */
  get bytes(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.#size);
    let at = 0;
    const put = (one: Uint8Array): void => {
      all.set(one, at);
      at += one.byteLength;
    };
    this.#whole.forEach(put);
    if (this.#used < this.#block.byteLength) put(this.#block.subarray(0, this.#used));
    return all;
  }
}
