// Command kube runs one program of the control plane: the first argument says which.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() {
	if len(os.Args) < 2 {
		fail()
	}
	name := os.Args[1]
	os.Args = append([]string{filepath.Join(filepath.Dir(os.Args[0]), name)}, os.Args[2:]...)
	switch name {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		run(apiserver.NewAPIServerCommand())
	case "kube-controller-manager":
		run(controllermanager.NewControllerManagerCommand())
	default:
		fail()
	}
}

func run(command *cobra.Command) {
	os.Exit(cli.Run(command))
}

func fail() {
	fmt.Fprintln(os.Stderr, "usage: kube etcd|kube-apiserver|kube-controller-manager [FLAG...]")
	os.Exit(2)
}
