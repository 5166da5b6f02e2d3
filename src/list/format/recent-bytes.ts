/** The last pieces of a stream, addressed by their place in the whole of it. */
export class RecentBytes {
  #pieces: { start: number; bytes: Buffer }[] = [];
  #end = 0;

  append(bytes: Buffer): void {
    this.#pieces.push({ start: this.#end, bytes });
    this.#end += bytes.length;
  }

  /** Lets go of everything before `place`. */
  forget(place: number): void {
    const [first] = this.#pieces;
    if (first === undefined || first.start + first.bytes.length > place) return;
    this.#pieces = this.#pieces.filter(({ start, bytes }) => start + bytes.length > place);
  }

  slice(from: number, to: number): Buffer {
    return Buffer.concat(
      this.#pieces.map(({ start, bytes }) => bytes.subarray(Math.max(0, from - start), Math.max(0, to - start))),
    );
  }
}
