/** What is used of WebAssembly; the types of Node leave it out, and those of browsers would bring all of a browser. */
interface WebAssemblyRuntime {
  compile(bytes: Uint8Array): Promise<CompiledModule>;
  Instance: new (
    module: CompiledModule,
    imports: Record<string, Record<string, (...values: never[]) => number>>,
  ) => { readonly exports: { readonly memory: { readonly buffer: ArrayBuffer }; readonly _start: () => void } };
  /** Thrown when a program does what it may not. */
  RuntimeError: new (message: string) => Error;
}

export interface CompiledModule {
  readonly [Symbol.toStringTag]: 'WebAssembly.Module';
}

export const webAssembly = (globalThis as unknown as { WebAssembly: WebAssemblyRuntime }).WebAssembly;
