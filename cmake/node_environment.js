// Programs in Node see the environment, as any other program does.
Module['preRun'] = (Module['preRun'] || []).concat(() => Object.assign(ENV, process.env));
