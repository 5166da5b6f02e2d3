import { testWeaves } from './weaves-suite.ts';

testWeaves('postgres', { every: 26, seeds: 4 });
