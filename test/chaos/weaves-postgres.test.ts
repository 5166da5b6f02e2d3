import { isFull } from '../support/depth.ts';
import { testWeaves } from './weaves-suite.ts';

// Fewer than this would come to nothing in too many of the scenarios.
testWeaves('postgres', { every: isFull ? 10 : 13, seeds: 4 });
