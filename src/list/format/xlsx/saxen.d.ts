/** Only the used part of the package, which ships no types. */
declare module 'saxen' {
  export class Parser {
    on(event: 'openTag', handler: (name: string, attributes: () => Readonly<Record<string, string>>) => void): this;
    on(event: 'closeTag', handler: (name: string) => void): this;
    on(event: 'text' | 'cdata', handler: (text: string) => void): this;
    on(event: 'error', handler: (error: Error) => void): this;
    /** Calls handlers for complete tokens and buffers the rest. */
    write(xml: string): this;
    end(): Error | null;
  }
}
