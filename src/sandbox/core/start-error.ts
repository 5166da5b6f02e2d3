/** Thrown when the sandbox cannot start as asked; the message says which setting and what to do. */
export class SandboxStartError extends Error {
  override readonly name = 'SandboxStartError' as const;
}
