import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** Thrown when bundling fails, usually because a workflow is not deterministic. */
export class WorkflowBundleError extends Error {
  override readonly name = 'WorkflowBundleError' as const;
  readonly isBadInput = false;
}

export type WorkflowBundle = { codePath: string } | { code: string };

const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const ownWorkflows = fileURLToPath(new URL(`../../workflows/index.${extension}`, import.meta.url));
/** Only compiled code has a bundle beside it; source bundles its own, which cannot be stale. */
const prebuilt = fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url));

const makeSpans = '@temporalio/interceptors-opentelemetry/lib/workflow-interceptors';

interface BundleOptions {
  /** Default: this program's own. */
  workflowsPath?: string;
  /** Default: no spans. */
  isTraced?: boolean;
}

/** Takes about a second. Throws WorkflowBundleError naming what is not deterministic. */
export async function bundleWorkflows({ workflowsPath = ownWorkflows, isTraced = false }: BundleOptions = {}): Promise<{ code: string }> {
  // Only the bundler's logger receives failure details.
  const messages: string[] = [];
  const logger = new DefaultLogger('ERROR', ({ message }) => void messages.push(message));
  try {
    const workflowInterceptorModules = isTraced ? [createRequire(import.meta.url).resolve(makeSpans)] : [];
    const { code } = await bundleWorkflowCode({ workflowsPath, logger, workflowInterceptorModules });
    return { code };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const details = [reason, ...messages].map((text) => text.trim()).join('\n');
    throw new WorkflowBundleError(
      `The workflows in ${workflowsPath} cannot be bundled. Workflow code must be deterministic: no Node built-ins, no activities' code, no clocks.\n${details}`,
      { cause: error },
    );
  }
}

/** The build's bundle, if beside the running code and no spans are wanted; else a new one. */
export async function loadWorkflowBundle({ isTraced }: { isTraced: boolean }): Promise<WorkflowBundle> {
  return existsSync(prebuilt) && !isTraced ? { codePath: prebuilt } : await bundleWorkflows({ isTraced });
}

async function writeBundle(path: string): Promise<void> {
  const { code } = await bundleWorkflows();
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, code);
  await rename(`${path}.new`, path);
}

const [, script, out] = argv;
if (script !== undefined && import.meta.url === pathToFileURL(script).href && out !== undefined) {
  await writeBundle(out);
}
