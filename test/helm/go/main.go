// Renders the chart as helm template does, many value sets in one go.
// usage: sluice-helm CHART < requests.json > answers.json
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

type request struct {
	Name      string                 `json:"name"`
	Release   string                 `json:"release"`
	Namespace string                 `json:"namespace"`
	Values    map[string]interface{} `json:"values"`
	// API versions that the cluster has besides Kubernetes' own.
	APIVersions []string `json:"apiVersions"`
}

type answer struct {
	Name string `json:"name"`
	// By path of the template.
	Files map[string]string `json:"files,omitempty"`
	Error string            `json:"error,omitempty"`
}

func render(path string, r request) answer {
	chart, err := loader.Load(path)
	if err != nil {
		return answer{Name: r.Name, Error: err.Error()}
	}
	if err := chartutil.ProcessDependenciesWithMerge(chart, r.Values); err != nil {
		return answer{Name: r.Name, Error: err.Error()}
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.APIVersions = append(capabilities.APIVersions, r.APIVersions...)
	options := chartutil.ReleaseOptions{Name: r.Release, Namespace: r.Namespace, Revision: 1, IsInstall: true}
	values, err := chartutil.ToRenderValues(chart, r.Values, options, capabilities)
	if err != nil {
		return answer{Name: r.Name, Error: err.Error()}
	}
	files, err := engine.Engine{Strict: false, LintMode: false}.Render(chart, values)
	if err != nil {
		return answer{Name: r.Name, Error: err.Error()}
	}
	return answer{Name: r.Name, Files: files}
}

func main() {
	var requests []request
	if err := json.NewDecoder(os.Stdin).Decode(&requests); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	answers := make([]answer, 0, len(requests))
	for _, r := range requests {
		answers = append(answers, render(os.Args[1], r))
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
