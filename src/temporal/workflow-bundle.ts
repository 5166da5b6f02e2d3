import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** Thrown when the workflows cannot be bundled: most often because something in them is not deterministic. */
export class WorkflowBundleError extends Error {
  override readonly name = 'WorkflowBundleError' as const;
  readonly isBadInput = false;
}

export type WorkflowBundle = { codePath: string } | { code: string };

const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const ownWorkflows = fileURLToPath(new URL(`../../workflows/index.${extension}`, import.meta.url));
/** Only compiled code has a bundle beside it; code that runs from source bundles its own, which cannot be stale. */
const prebuilt = fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url));

/** Temporal's interceptors of workflows that make spans. */
const makeSpans = '@temporalio/interceptors-opentelemetry/lib/workflow-interceptors';

interface BundleOptions {
  /** Default: those of this program. */
  workflowsPath?: string;
  /** Whether workflows make spans. Default: they make none. */
  isTraced?: boolean;
}

/** Bundles source or compiled workflows in about a second. Throws WorkflowBundleError that names what is not deterministic. */
export async function bundleWorkflows({ workflowsPath = ownWorkflows, isTraced = false }: BundleOptions = {}): Promise<{ code: string }> {
  // The bundler tells details of a failure to its logger only, and otherwise reports progress that nobody asked for.
  const said: string[] = [];
  const logger = new DefaultLogger('ERROR', ({ message }) => void said.push(message));
  try {
    const workflowInterceptorModules = isTraced ? [createRequire(import.meta.url).resolve(makeSpans)] : [];
    const { code } = await bundleWorkflowCode({ workflowsPath, logger, workflowInterceptorModules });
    return { code };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const details = [reason, ...said].map((text) => text.trim()).join('\n');
    throw new WorkflowBundleError(
      `The workflows in ${workflowsPath} cannot be bundled. Workflow code must be deterministic: no Node built-ins, no activities' code, no clocks.\n${details}`,
      { cause: error },
    );
  }
}

/** The bundle that the build made, when it lies beside the running code and spans are not wanted; else one made now. */
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
